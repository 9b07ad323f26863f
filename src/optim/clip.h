// Gradients that are too large, made smaller before a step.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "config/catalog.h"
#include "optim/shared_gradients.h"

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
  /// From now on the gradients are this rank's part of those that are clipped together.
  void share(const SharedGradients& shared) { shared_ = shared; }

 protected:
  const SharedGradients& shared() const { return shared_; }

 private:
  SharedGradients shared_;
};

template <>
const Catalog<Clip>& catalog<Clip>();

}  // namespace ddptrain
