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
    std::vector<double> weight;
    void fields(Fields& f) {
      f("gamma", gamma, {.doc = "How much less: (1 - p)^gamma for a probability p.", .min = 0});
      f("weight", weight, {.doc = "Weight of each class; none weighs all alike.", .min = 0});
    }
  };

  Focal(const Options& options, const LossContext& context)
      : gamma_(options.gamma), weight_(options.weight, context.classes) {}

  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    const auto scores = full_precision(output);
    const auto entropy = at::cross_entropy_loss(scores, target.to(at::kLong), weight_.as(scores),
                                                at::Reduction::None, -100, 0);
    return each_counts_once(entropy.neg().exp().neg().add(1).pow(gamma_).mul(entropy));
  }
  OutputActivation activation() const override { return {OutputActivation::Kind::softmax}; }

 private:
  double gamma_;
  ClassWeights weight_;
};

}  // namespace

Entry<Loss> focal_loss() {
  return entry<Loss, Focal::Options>(
      "focal", "Cross-entropy in which rows that are right already count less, as fastai has it.",
      [](const Focal::Options& options, const LossContext& context) {
        return std::make_unique<Focal>(options, context);
      },
      {"takes_class"});
}

}  // namespace ddptrain
