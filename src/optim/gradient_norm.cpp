#include "optim/gradient_norm.h"

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

namespace ddptrain {

at::Tensor gradient_norm(const std::vector<at::Tensor>& gradients, double p) {
  return at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, p)), p);
}

}  // namespace ddptrain
