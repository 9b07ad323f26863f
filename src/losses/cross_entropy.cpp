// torch.nn.CrossEntropyLoss: log-softmax over the classes and the negative logarithm of what the
// target asks for. Targets are labels [rows, ...], or probabilities in the shape of the output.
#include <ATen/ops/cross_entropy_loss.h>

#include "losses/loss.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

class CrossEntropy final : public Loss {
 public:
  struct Options {
    ClassWeightOptions classes;
    double label_smoothing = 0;
    Auto<std::int64_t> ignore_index;
    std::int64_t axis = 1;
    void fields(Fields& f) {
      classes.fields(f);
      f("label_smoothing", label_smoothing,
        {.doc = "Share of the target spread over all classes, weighted like them.",
         .min = 0,
         .max = 1});
      f("ignore_index", ignore_index,
        {.doc =
             "Label that does not count; auto takes the code of the data's void pixels, or -100."});
      f("axis", axis, {.doc = "Axis of the classes in the output; -1 is the last.", .min = -1});
    }
  };

  CrossEntropy(const Options& options, const LossContext& context)
      : options_(options),
        ignored_(options.ignore_index.value.value_or(context.void_code.value_or(kNoLabel))),
        weight_(options.classes, context) {}

  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    const auto scores = full_precision(output).movedim(options_.axis, 1);
    const auto weight = weight_.as(scores);
    if (target.is_floating_point()) return soft(scores, target, weight);
    const auto labels = target.to(at::kLong);
    const auto each = of_units(
        scores, labels, [&](const auto& rows, const auto& of) { return values(rows, of, weight); });
    return labeled(each, labels, weight, ignored_);
  }
  OutputActivation activation() const override {
    return {OutputActivation::Kind::softmax, options_.axis};
  }

 private:
  at::Tensor values(const at::Tensor& scores, const at::Tensor& target,
                    const at::Tensor& weight) const {
    return at::cross_entropy_loss(scores, target, weight, at::Reduction::None, ignored_,
                                  options_.label_smoothing);
  }

  /// torch divides by the number of rows here, whatever the class weights.
  LossTerms soft(const at::Tensor& scores, const at::Tensor& target,
                 const at::Tensor& weight) const {
    return each_counts_once(values(scores, fitted_target(target, scores), weight));
  }

  Options options_;
  std::int64_t ignored_;
  ClassWeights weight_;
};

}  // namespace

Entry<Loss> cross_entropy_loss() {
  return entry<Loss, CrossEntropy::Options>(
      "cross_entropy", "Softmax cross-entropy for one class per row or pixel, as torch has it.",
      [](const CrossEntropy::Options& options, const LossContext& context) {
        return std::make_unique<CrossEntropy>(options, context);
      },
      {"takes_class", "takes_mask"});
}

}  // namespace ddptrain
