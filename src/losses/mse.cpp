// torch.nn.MSELoss: targets have the output's shape.
#include <ATen/ops/mse_loss.h>

#include "losses/loss.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

class Mse final : public Loss {
 public:
  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    return of_known_numbers(output, target, [](const at::Tensor& numbers, const at::Tensor& known) {
      return at::mse_loss(numbers, known, at::Reduction::None);
    });
  }
};

}  // namespace

Entry<Loss> mse_loss() {
  return entry<Loss, NoOptions>(
      "mse", "Squared difference of output and target.",
      [](const NoOptions&, const LossContext&) { return std::make_unique<Mse>(); },
      {"takes_number", "takes_points"});
}

}  // namespace ddptrain
