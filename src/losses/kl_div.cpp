// torch.nn.KLDivLoss with reduction "batchmean": outputs are log-probabilities, targets
// probabilities, and each row counts once.
#include <ATen/ops/kl_div.h>

#include "losses/loss.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

class KlDiv final : public Loss {
 public:
  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    const auto scores = full_precision(output);
    const auto each = at::kl_div(scores, fitted_target(target, scores), at::Reduction::None);
    return each_counts_once(each.flatten(1).sum(1));
  }
};

}  // namespace

Entry<Loss> kl_div_loss() {
  return entry_of<Loss, KlDiv>(
      "kl_div", "Divergence of target probabilities from the output's log-probabilities, per row.",
      {"takes_labels"});
}

}  // namespace ddptrain
