#include "models/layers/layer_norm.h"

#include <ATen/ops/layer_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

namespace ddptrain {

LayerNorm::LayerNorm(std::int64_t features, double eps)
    : weight_(parameter("weight", at::ones({features}))),
      bias_(parameter("bias", at::zeros({features}))),
      eps_(eps) {}

at::Tensor LayerNorm::forward(const at::Tensor& input, const Pass&) {
  return at::layer_norm(input, weight_.sizes(), weight_, bias_, eps_);
}

}  // namespace ddptrain
