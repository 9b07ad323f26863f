// Cross-entropy of a few rows and classes on the CPU as one node of the graph: what calling
// operators costs is more than what they compute.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "losses/loss.h"

namespace ddptrain {

struct FewClassesOptions {
  double label_smoothing = 0;  // share of the target that is spread over all classes
  double z_loss = 0;           // times the square of the logarithm of the softmax's sum is added
  std::int64_t ignored = 0;    // label that does not count
};

/// Terms [rows] of scores [rows, classes] and labels int64 [rows], weighted as torch's
/// cross_entropy_loss weighs them by `weight` [classes], which may be undefined; computed in
/// double. None where these are not float or double on the CPU, at most 64 classes and 65,536
/// scores, with gradients, or where a label is no class: operators of LibTorch compute those, and
/// name the error.
std::optional<LossTerms> few_classes_loss(const at::Tensor& scores, const at::Tensor& labels,
                                          const at::Tensor& weight,
                                          const FewClassesOptions& options);

}  // namespace ddptrain
