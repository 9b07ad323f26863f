// torch.nn.L1Loss: targets have the output's shape.
#include <ATen/ops/l1_loss.h>

#include "losses/loss.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

class L1 final : public Loss {
 public:
  explicit L1(const NumberScale& scale) : scale_(scale) {}

  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    return scale_.terms(output, target, [](const at::Tensor& numbers, const at::Tensor& known) {
      return at::l1_loss(numbers, known, at::Reduction::None);
    });
  }

 private:
  NumberScale scale_;
};

}  // namespace

Entry<Loss> l1_loss() {
  return entry_of<Loss, L1, NumberScale>("l1", "Absolute difference of output and target.",
                                         {"takes_number", "takes_points"});
}

}  // namespace ddptrain
