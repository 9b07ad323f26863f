// torch.nn.CrossEntropyLoss: log-softmax over the classes and the negative logarithm of what the
// target asks for. Targets are labels [rows, ...], or probabilities in the shape of the output.
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/ones_like.h>

#include "losses/few_classes.h"
#include "losses/loss.h"
#include "losses/rows.h"
#include "losses/vocabulary_loss.h"

namespace ddptrain {
namespace {

class CrossEntropy final : public Loss {
 public:
  struct Options {
    ClassWeightOptions classes;
    double label_smoothing = 0;
    Auto<std::int64_t> ignore_index;
    std::int64_t axis = 1;
    double z_loss = 0;
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
      f("z_loss", z_loss,
        {.doc = "Times the square of the logarithm of the softmax's sum, which is added and keeps "
                "that near 0 (PaLM, section 5).",
         .min = 0});
    }
  };

  CrossEntropy(const Options& options, const LossContext& context)
      : options_(options),
        ignored_(options.ignore_index.value.value_or(context.void_code.value_or(kNoLabel))),
        weight_(options.classes, context) {}

  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    const bool has_rows = output.dim() == 2 && options_.axis != 0;
    const auto exact = full_precision(output);
    const auto scores = has_rows ? exact : exact.movedim(options_.axis, 1);
    const auto weight = weight_.as(scores);
    if (target.is_floating_point()) return soft(scores, target, weight);
    const auto labels = target.to(at::kLong);
    if (auto terms = few_classes_loss(scores, labels, weight,
                                      {options_.label_smoothing, options_.z_loss, ignored_}))
      return std::move(*terms);
    const auto each = of_units(
        scores, labels, [&](const auto& rows, const auto& of) { return values(rows, of, weight); });
    return labeled(with_z_loss(each, scores, labels.ne(ignored_)), labels, weight, ignored_);
  }
  // A chunk of places at a time, unless classes have weights.
  LossTerms projected(const ProjectedOutput& output, const at::Tensor& target) const override {
    if (weight_.given() || ignored_ != kNoLabel) return Loss::projected(output, target);
    const auto learned = learned_places(output.hidden, target);
    auto places = output;
    places.hidden = learned.hidden;
    return in_place(learned,
                    each_counts_once(vocabulary_loss(places, learned.labels,
                                                     {options_.label_smoothing, options_.z_loss})));
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
    const auto each = values(scores, fitted_target(target, scores), weight);
    return each_counts_once(with_z_loss(each, scores, at::ones_like(each)));
  }

  at::Tensor with_z_loss(const at::Tensor& values, const at::Tensor& scores,
                         const at::Tensor& counted) const {
    if (options_.z_loss == 0) return values;
    return values.add(at::logsumexp(scores, 1).square().mul(counted), options_.z_loss);
  }

  Options options_;
  std::int64_t ignored_;
  ClassWeights weight_;
};

}  // namespace

Entry<Loss> cross_entropy_loss() {
  return entry_of<Loss, CrossEntropy>(
      "cross_entropy", "Softmax cross-entropy for one class per row or pixel, as torch has it.",
      {"takes_class", "takes_mask", "takes_token"});
}

}  // namespace ddptrain
