// What losses share: the precision they work in, and targets that fit an output.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "losses/loss.h"

namespace ddptrain {

/// fp16 and bf16 outputs (autocast) as float32; others as they are.
at::Tensor full_precision(const at::Tensor& output);

/// A target of the output's shape and dtype; a [rows] target fits a [rows, 1] output, and points
/// [rows, n, 2] and outputs [rows, 2n] fit each other. Any other difference is an Error, never a
/// broadcast.
at::Tensor fitted_target(const at::Tensor& target, const at::Tensor& output);

/// Terms in which each element counts once.
LossTerms each_counts_once(at::Tensor values);

/// Missing targets replaced by what was predicted, and a 0 for each of them, a 1 for the others.
struct KnownNumbers {
  at::Tensor filled, weights;
};
KnownNumbers known_numbers(const at::Tensor& target, const at::Tensor& predicted);

/// Terms of a loss between numbers, as torch's function gives them for each element. A target that
/// is not a number is a missing one: its weight is 0, and so are its value and gradient.
template <class Function>
LossTerms of_known_numbers(const at::Tensor& output, const at::Tensor& target,
                           const Function& function) {
  const auto numbers = full_precision(output);
  const auto known = known_numbers(fitted_target(target, numbers), numbers.detach());
  return {function(numbers, known.filled), known.weights};
}

/// The option `scale` of losses between numbers, which divides outputs and targets.
struct NumberScale {
  double scale = 1;
  void fields(Fields& f);
  /// The same terms of numbers divided by it.
  template <class Function>
  LossTerms terms(const at::Tensor& output, const at::Tensor& target,
                  const Function& function) const {
    return of_known_numbers(output, target,
                            [&](const at::Tensor& numbers, const at::Tensor& known) {
                              return scale == 1 ? function(numbers, known)
                                                : function(numbers.div(scale), known.div(scale));
                            });
  }
};

/// torch's label that does not count.
inline constexpr std::int64_t kNoLabel = -100;

/// Places of a target [rows, places] that have a label, and what is there. On an accelerator, which
/// would have to be waited for, all places: those without a label have label 0 and are not counted.
struct LearnedPlaces {
  at::Tensor places;      // int64 [n], counted over all rows; undefined: all
  at::Tensor hidden;      // [n, width]
  at::Tensor labels;      // int64 [n]
  at::Tensor counted;     // bool [n]; undefined: all are
  at::IntArrayRef sizes;  // of the target
};

/// Of hidden states [rows, places, width]; `target` outlives the result.
LearnedPlaces learned_places(const at::Tensor& hidden, const at::Tensor& target);

/// Terms [n] of these places, in the shape of the target; 0 at all others.
LossTerms in_place(const LearnedPlaces& learned, const LossTerms& terms);

enum class ClassBalance { balanced };
std::span<const std::string_view> names(ClassBalance);

/// Weights of classes, written or computed: `balanced` is samples / (classes * samples of the
/// class), as scikit-learn's class_weight="balanced".
struct ClassWeightOptions {
  std::vector<double> weight;
  std::optional<ClassBalance> class_weights;
  void fields(Fields& f);
};

/// What torch's `function` of scores [units, classes] and labels [units] gives for scores [rows,
/// classes, ...] and labels [rows, ...], in the labels' shape. On the CPU it takes them as they
/// are; elsewhere torch's kernels for images refuse to run in deterministic mode.
template <class Function>
at::Tensor of_units(const at::Tensor& scores, const at::Tensor& labels, const Function& function) {
  if (scores.is_cpu() || scores.dim() == 2) return function(scores, labels);
  const auto units = scores.movedim(1, -1).reshape({-1, scores.size(1)});
  return function(units, labels.reshape({-1})).view(labels.sizes());
}

/// Class weights as recipes give them; an empty list stands for none and gives an undefined tensor.
class ClassWeights {
 public:
  /// An Error where the number of weights is not that of the classes (0: not known).
  ClassWeights(const std::vector<double>& weights, std::int64_t classes);
  /// An Error too where a class is to be weighed that no training sample is of.
  ClassWeights(const ClassWeightOptions& options, const LossContext& context);
  bool given() const { return weights_.defined(); }
  /// On the device and in the dtype of an output; each is copied once. From any thread.
  at::Tensor as(const at::Tensor& output) const;

 private:
  at::Tensor weights_;
  mutable std::mutex mutex_;
  mutable std::vector<at::Tensor> copies_;
};

/// Terms of a loss with class labels: weight[target] per unit, 0 where the target is `ignored`.
LossTerms labeled(at::Tensor values, const at::Tensor& target, const at::Tensor& weights,
                  std::int64_t ignored);

}  // namespace ddptrain
