#include "models/projection.h"

#include <ATen/ops/linear.h>

namespace ddptrain {

at::Tensor capped(const at::Tensor& scores, const Projection& projection) {
  const auto cap = projection.soft_cap;
  return cap > 0 ? scores.div(cap).tanh().mul(cap) : scores;
}

at::Tensor project(const at::Tensor& hidden, const Projection& projection) {
  return capped(at::linear(hidden, projection.weight, projection.bias), projection);
}

}  // namespace ddptrain
