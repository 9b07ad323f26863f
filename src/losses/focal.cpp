// fastai.losses.FocalLoss: cross-entropy in which rows that are right already count less (Lin et
// al., 2017). As there, class weights weigh the cross-entropy and what "right" is taken from, and
// the mean is over samples.
#include <ATen/ops/cross_entropy_loss.h>

#include "losses/loss.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

class Focal final : public Loss {
 public:
  struct Options {
    double gamma = 2;
    ClassWeightOptions classes;
    void fields(Fields& f) {
      f("gamma", gamma, {.doc = "How much less: (1 - p)^gamma for a probability p.", .min = 0});
      classes.fields(f);
    }
  };

  Focal(const Options& options, const LossContext& context)
      : gamma_(options.gamma),
        ignored_(context.void_code.value_or(kNoLabel)),
        weight_(options.classes, context) {}

  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    const auto scores = full_precision(output);
    const auto labels = target.to(at::kLong);
    const auto weight = weight_.as(scores);
    const auto entropy = of_units(scores, labels, [&](const auto& rows, const auto& of) {
      return at::cross_entropy_loss(rows, of, weight, at::Reduction::None, ignored_, 0);
    });
    // At 0, where a pixel is void, a power below 1 would have no gradient.
    const auto wrong = entropy.neg().exp().neg().add(1).clamp_min(1e-12);
    return labeled(wrong.pow(gamma_).mul(entropy), labels, {}, ignored_);
  }
  OutputActivation activation() const override { return {OutputActivation::Kind::softmax}; }

 private:
  double gamma_;
  std::int64_t ignored_;
  ClassWeights weight_;
};

}  // namespace

Entry<Loss> focal_loss() {
  return entry_of<Loss, Focal>(
      "focal", "Cross-entropy in which rows that are right already count less, as fastai has it.",
      {"takes_class", "takes_mask"});
}

}  // namespace ddptrain
