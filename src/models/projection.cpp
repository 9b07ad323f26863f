#include "models/projection.h"

#include <ATen/ops/linear.h>

namespace ddptrain {

at::Tensor project(const at::Tensor& hidden, const Projection& projection) {
  const auto scores = at::linear(hidden, projection.weight, projection.bias);
  const auto cap = projection.soft_cap;
  return cap > 0 ? scores.div(cap).tanh().mul(cap) : scores;
}

}  // namespace ddptrain
