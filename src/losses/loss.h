// One term that training makes small.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "config/catalog.h"

namespace ddptrain {

/// A loss never returns a mean: the step's gradient is (sum over micro-batches and ranks) / (sum of
/// weights over the same). `values` holds one number per counted unit (row, pixel, element), each
/// already multiplied by its weight, in the output's graph; `weights` the units' weights (samples,
/// tokens, class weights; 0 where ignored), same shape, no graph.
struct LossTerms {
  at::Tensor values;
  at::Tensor weights;
};

struct LossContext {
  std::int64_t classes = 0;                 // 0: not a classification
  std::optional<std::int64_t> void_code{};  // label of units that do not count, by the data
  /// Training samples of each class; may be empty, where nothing is trained.
  std::function<std::vector<std::int64_t>()> class_counts{};
};

/// What turns outputs into predictions: nothing, probabilities of classes along an axis, or a
/// probability of each element.
struct OutputActivation {
  enum class Kind { none, softmax, sigmoid } kind = Kind::none;
  std::int64_t axis = 1;
};

/// Scores [..., classes] that are too many to hold at once: hidden [rows, places, width] times
/// weight [classes, width] transposed, plus bias [classes], which may be undefined. A soft cap c >
/// 0 makes c * tanh(z / c) of a score z.
struct ProjectedOutput {
  at::Tensor hidden, weight, bias;
  double soft_cap = 0;
};

class Loss {
 public:
  using Make = std::unique_ptr<Loss>(const LossContext&);
  virtual ~Loss() = default;
  /// output [rows, ...] as the model gave it; target [rows] or [rows, ...]. 0 rows give empty
  /// terms.
  virtual LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const = 0;
  /// The same of outputs that do not exist yet: target [rows, places], terms [rows, places]. Places
  /// whose target is kNoLabel (losses/rows.h) are not computed, and have weight 0. Unless a loss
  /// does better, the scores of all others exist at once.
  virtual LossTerms projected(const ProjectedOutput& output, const at::Tensor& target) const;
  /// Of outputs that this loss is for.
  virtual OutputActivation activation() const { return {}; }
};

template <>
const Catalog<Loss>& catalog<Loss>();

/// Terms of a batch: of its one target, or where rows are mixtures and targets are {own, partner's,
/// share of the own [rows]}, loss(output, own) * share + loss(output, partner's) * (1 - share),
/// values and weights alike (Zhang et al., 2018; fastai.callback.mixup).
LossTerms loss_of(const Loss& loss, const at::Tensor& output,
                  const std::vector<at::Tensor>& targets);

/// Predictions in double: probabilities, or the outputs themselves.
at::Tensor predictions(const at::Tensor& output, const OutputActivation& activation);

/// Outputs that give these predictions, so that losses and metrics can read a mean of several.
at::Tensor output_of(const at::Tensor& predictions, const OutputActivation& activation);

}  // namespace ddptrain
