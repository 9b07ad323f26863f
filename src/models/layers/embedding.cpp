#include "models/layers/embedding.h"

#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>

#include "models/layers/initialize.h"

namespace ddptrain {

Embedding::Embedding(std::int64_t values, std::int64_t width, std::int64_t padding,
                     const at::Generator& generator)
    : weight_(parameter("weight", at::empty({values, width}))), padding_(padding) {
  initialize::normal(weight_, 1, generator);
  if (padding >= 0) initialize::constant(weight_.detach().select(0, padding), 0);
}

at::Tensor Embedding::forward(const at::Tensor& numbers, const Pass&) {
  return at::embedding(weight_, numbers, padding_);
}

}  // namespace ddptrain
