// torch.nn.L1Loss: targets have the output's shape.
#include <ATen/ops/l1_loss.h>

#include "losses/loss.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

class L1 final : public Loss {
 public:
  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    const auto values = full_precision(output);
    return each_counts_once(
        at::l1_loss(values, fitted_target(target, values), at::Reduction::None));
  }
};

}  // namespace

Entry<Loss> l1_loss() {
  return entry<Loss, NoOptions>(
      "l1", "Absolute difference of output and target.",
      [](const NoOptions&, const LossContext&) { return std::make_unique<L1>(); },
      {"takes_number"});
}

}  // namespace ddptrain
