#include "models/layers/self_attention.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mv.h>
#include <ATen/ops/zeros.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "models/layers/initialise.h"

namespace ddptrain {
namespace {

at::Tensor unit(const at::Tensor& vector) { return vector.div(vector.norm().clamp_min(1e-12)); }

at::Tensor random_unit(std::int64_t size, const at::Generator& generator) {
  const auto vector = at::empty({size});
  initialise::normal(vector, 1, generator);
  return unit(vector);
}

}  // namespace

SpectralConvolution::SpectralConvolution(std::int64_t channels, const at::Generator& generator) {
  weight_ = parameter("weight_orig", at::empty({channels, channels, 1}));
  initialise::layer_default(weight_, {}, generator);
  initialise::kaiming_normal(weight_, initialise::Fan::in, generator);
  u_ = buffer("weight_u", random_unit(channels, generator));
  v_ = buffer("weight_v", random_unit(channels, generator));
}

// In full precision whatever the forward pass runs in.
at::Tensor SpectralConvolution::normalised_weight(bool training) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const auto matrix = weight_.squeeze(2);
  if (training) {
    const at::NoGradGuard no_grad;
    v_.copy_(unit(at::mv(matrix.t(), u_)));
    u_.copy_(unit(at::mv(matrix, v_)));
  }
  // Copies: the backward pass of this step outlives the next iteration's values.
  const auto u = u_.clone(), v = v_.clone();
  return matrix.div(at::dot(u, at::mv(matrix, v)));
}

at::Tensor SpectralConvolution::forward(const at::Tensor& input, const Pass& pass) {
  return at::linear(input, normalised_weight(pass.training));
}

SimpleSelfAttention::SimpleSelfAttention(std::int64_t channels, const at::Generator& generator)
    : gamma_(parameter("gamma", at::zeros({1}))),
      conv_(make<SpectralConvolution>("conv", channels, generator)) {}

// Places first and channels last: all products read and write dense memory when the input is
// channels_last, and x x^T is symmetric.
at::Tensor SimpleSelfAttention::forward(const at::Tensor& input, const Pass& pass) {
  const auto x = input.flatten(2);
  const auto places = x.transpose(1, 2);
  const auto products = at::bmm(conv_->forward(places, pass), at::bmm(x, places));
  auto sum = products.mul(gamma_).add_(places);
  auto map = sum.view({input.size(0), input.size(2), input.size(3), input.size(1)});
  return map.permute({0, 3, 1, 2}).contiguous(input.suggest_memory_format());
}

}  // namespace ddptrain
