// torch.nn.BCEWithLogitsLoss: one yes or no per output, targets in 0 .. 1 of the output's shape.
#include <ATen/ops/binary_cross_entropy_with_logits.h>

#include "losses/loss.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

class BceWithLogits final : public Loss {
 public:
  struct Options {
    std::vector<double> pos_weight;
    std::vector<double> weight;
    void fields(Fields& f) {
      f("pos_weight", pos_weight,
        {.doc = "Weight of a positive target of each output; none weighs all alike.", .min = 0});
      f("weight", weight,
        {.doc = "Factor of each output's loss; as in torch the mean is over elements all the same.",
         .min = 0,
         .items = ItemOrder::not_all_zero});
    }
  };

  BceWithLogits(const Options& options, const LossContext& context)
      : positive_(options.pos_weight, context.classes), weight_(options.weight, context.classes) {}

  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    const auto scores = full_precision(output);
    return each_counts_once(at::binary_cross_entropy_with_logits(
        scores, fitted_target(target, scores), weight_.as(scores), positive_.as(scores),
        at::Reduction::None));
  }
  OutputActivation activation() const override { return {OutputActivation::Kind::sigmoid}; }

 private:
  ClassWeights positive_;
  ClassWeights weight_;
};

}  // namespace

Entry<Loss> bce_with_logits_loss() {
  return entry_of<Loss, BceWithLogits>(
      "bce_with_logits", "Sigmoid cross-entropy for any number of labels per row.",
      {"takes_labels", "takes_class", "two_classes", "one_output"});
}

}  // namespace ddptrain
