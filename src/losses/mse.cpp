// torch.nn.MSELoss: targets have the output's shape.
#include <ATen/ops/mse_loss.h>

#include "losses/loss.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

class Mse final : public Loss {
 public:
  explicit Mse(const NumberScale& scale) : scale_(scale) {}

  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    return scale_.terms(output, target, [](const at::Tensor& numbers, const at::Tensor& known) {
      return at::mse_loss(numbers, known, at::Reduction::None);
    });
  }

 private:
  NumberScale scale_;
};

}  // namespace

Entry<Loss> mse_loss() {
  return entry_of<Loss, Mse, NumberScale>("mse", "Squared difference of output and target.",
                                          {"takes_number", "takes_points"});
}

}  // namespace ddptrain
