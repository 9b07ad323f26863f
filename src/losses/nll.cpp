// torch.nn.NLLLoss: outputs are log-probabilities over axis 1, targets are labels.
#include <ATen/ops/nll_loss_nd.h>

#include "losses/loss.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

class Nll final : public Loss {
 public:
  struct Options {
    ClassWeightOptions classes;
    Auto<std::int64_t> ignore_index;
    void fields(Fields& f) {
      classes.fields(f);
      f("ignore_index", ignore_index,
        {.doc =
             "Label that does not count; auto takes the code of the data's void pixels, or -100."});
    }
  };

  Nll(const Options& options, const LossContext& context)
      : ignored_(options.ignore_index.value.value_or(context.void_code.value_or(kNoLabel))),
        weight_(options.classes, context) {}

  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    const auto scores = full_precision(output);
    const auto weight = weight_.as(scores);
    const auto labels = target.to(at::kLong);
    auto values = of_units(scores, labels, [&](const auto& rows, const auto& of) {
      return at::nll_loss_nd(rows, of, weight, at::Reduction::None, ignored_);
    });
    return labeled(std::move(values), labels, weight, ignored_);
  }
  OutputActivation activation() const override { return {OutputActivation::Kind::softmax}; }

 private:
  std::int64_t ignored_;
  ClassWeights weight_;
};

}  // namespace

Entry<Loss> nll_loss() {
  return entry_of<Loss, Nll>(
      "nll", "Negative log-likelihood of outputs that are log-probabilities already.",
      {"takes_class", "takes_mask"});
}

}  // namespace ddptrain
