// Gradients that are too large, made smaller before a step.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "config/catalog.h"

namespace ddptrain {

class Clip {
 public:
  using Make = std::unique_ptr<Clip>();
  virtual ~Clip() = default;
  /// Clips the gradients of one step together, after they were multiplied by `scale` (loss scale
  /// removal and the weight ratio; folded into one pass). Returns the norm before clipping where it
  /// is known, else NaN.
  virtual double operator()(const std::vector<at::Tensor>& gradients, double scale) const = 0;
  /// The same by numbers of the gradients' device, without a wait: `scale` is a double there, and
  /// `overflow` as in scale_gradients(). The norm is a tensor without dimensions, or undefined.
  virtual at::Tensor operator()(const std::vector<at::Tensor>& gradients, const at::Tensor& scale,
                                at::Tensor& overflow) const = 0;
};

template <>
const Catalog<Clip>& catalog<Clip>();

/// The p-norm of all entries of all tensors (not none) as one vector, without dimensions, on their
/// device.
at::Tensor gradient_norm(const std::vector<at::Tensor>& gradients, double p = 2);

}  // namespace ddptrain
