// torch.nn.L1Loss: targets have the output's shape.
#include <ATen/ops/l1_loss.h>

#include "losses/loss.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

class L1 final : public Loss {
 public:
  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    return of_known_numbers(output, target, [](const at::Tensor& numbers, const at::Tensor& known) {
      return at::l1_loss(numbers, known, at::Reduction::None);
    });
  }
};

}  // namespace

Entry<Loss> l1_loss() {
  return entry<Loss, NoOptions>(
      "l1", "Absolute difference of output and target.",
      [](const NoOptions&, const LossContext&) { return std::make_unique<L1>(); },
      {"takes_number", "takes_points"});
}

}  // namespace ddptrain
