// fastai.losses.LabelSmoothingCrossEntropy. Without class weights it is cross_entropy with
// label_smoothing; with them fastai leaves the uniform part unweighted, torch does not.
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nll_loss_nd.h>

#include "losses/loss.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

class FastaiLabelSmoothing final : public Loss {
 public:
  struct Options {
    double eps = 0.1;
    std::vector<double> weight;
    void fields(Fields& f) {
      f("eps", eps, {.doc = "Share of the target spread over all classes.", .min = 0, .max = 1});
      f("weight", weight,
        {.doc = "Weight of each class: what one batch comes to in fastai, whose two parts have "
                "means of their own. No sums over ranks and micro-batches give these, so recipes "
                "use cross_entropy with weight and label_smoothing.",
         .min = 0,
         .items = ItemOrder::not_all_zero});
    }
  };

  FastaiLabelSmoothing(const Options& options, const LossContext& context)
      : eps_(options.eps),
        ignored_(context.void_code.value_or(kNoLabel)),
        weight_(options.weight, context.classes) {}

  /// fastai's mean is mean(uniform) + sum(weighted) / sum(weights): the uniform part is multiplied
  /// by the mean weight, so that dividing by the sum of weights gives just that.
  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    const auto scores = full_precision(output);
    const auto weight = weight_.as(scores);
    const auto labels = target.to(at::kLong);
    const auto logs = at::log_softmax(scores, 1);
    const auto hard = of_units(logs, labels, [&](const auto& rows, const auto& of) {
      return at::nll_loss_nd(rows, of, weight, at::Reduction::None, ignored_);
    });
    auto uniform = logs.sum(1).mul(-eps_ / static_cast<double>(scores.size(1)));
    auto terms = labeled(hard.mul(1 - eps_), labels, weight, ignored_);
    if (weight.defined()) uniform = uniform.mul(terms.weights.mean());
    terms.values = terms.values.add(uniform.mul(labels.ne(ignored_)));
    return terms;
  }
  OutputActivation activation() const override { return {OutputActivation::Kind::softmax}; }

 private:
  double eps_;
  std::int64_t ignored_;
  ClassWeights weight_;
};

}  // namespace

Entry<Loss> fastai_label_smoothing_loss() {
  return entry_of<Loss, FastaiLabelSmoothing>(
      "fastai_label_smoothing",
      "Label smoothing as fastai has it; cross_entropy's label_smoothing is torch's, which weighs "
      "the uniform part too.",
      {"takes_class", "takes_mask", "weight_of_whole_batch"});
}

}  // namespace ddptrain
