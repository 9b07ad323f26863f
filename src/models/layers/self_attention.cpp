#include "models/layers/self_attention.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mv.h>
#include <ATen/ops/zeros.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>

#include "models/layers/chain.h"
#include "models/layers/initialize.h"

namespace ddptrain {
namespace {

at::Tensor unit(const at::Tensor& vector) { return vector.div(vector.norm().clamp_min(1e-12)); }

at::Tensor random_unit(std::int64_t size, const at::Generator& generator) {
  const auto vector = at::empty({size});
  initialize::unit_vector(vector, generator);
  return vector;
}

/// Places [rows, height * width, channels] as a map in the sizes and the layout of `like`.
at::Tensor map_of(const at::Tensor& places, const at::Tensor& like) {
  const auto map = places.view({like.size(0), like.size(2), like.size(3), like.size(1)});
  return map.permute({0, 3, 1, 2}).contiguous(like.suggest_memory_format());
}

}  // namespace

SpectralConvolution::SpectralConvolution(std::int64_t in, std::int64_t out, FirstWeights first,
                                         const at::Generator& generator) {
  weight_ = parameter("weight_orig", at::empty({out, in, 1}));
  initialize::layer_default(weight_, {}, generator);
  if (first == FirstWeights::kaiming_normal)
    initialize::kaiming_normal(weight_, initialize::Fan::in, generator);
  u_ = buffer("weight_u", random_unit(out, generator));
  v_ = buffer("weight_v", random_unit(in, generator));
}

// In full precision whatever the forward pass runs in.
at::Tensor SpectralConvolution::normalized_weight(bool training) {
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
  return at::linear(input, normalized_weight(pass.training));
}

SimpleSelfAttention::SimpleSelfAttention(std::int64_t channels, const at::Generator& generator)
    : gamma_(parameter("gamma", at::zeros({1}))),
      conv_(make<SpectralConvolution>("conv", channels, channels,
                                      SpectralConvolution::FirstWeights::kaiming_normal,
                                      generator)) {}

// Places first and channels last: all products read and write dense memory when the input is
// channels_last, and x x^T is symmetric.
at::Tensor SimpleSelfAttention::forward(const at::Tensor& input, const Pass& pass) {
  const auto x = input.flatten(2);
  const auto places = x.transpose(1, 2);
  const auto products = at::bmm(conv_->forward(places, pass), at::bmm(x, places));
  return map_of(products.mul(gamma_).add_(places), input);
}

namespace {

/// fastai's ConvLayer under spectral norm, whose convolution is its first step.
SpectralConvolution* add_spectral(Sequence& layer, std::int64_t in, std::int64_t out,
                                  const at::Generator& generator) {
  return layer.add<SpectralConvolution>(in, out, SpectralConvolution::FirstWeights::of_conv1d,
                                        generator);
}

}  // namespace

SelfAttention::SelfAttention(std::int64_t channels, const at::Generator& generator)
    : gamma_(parameter("gamma", at::zeros({1}))) {
  const auto eighth = std::max<std::int64_t>(1, channels / 8);
  query_ = add_spectral(*make<Sequence>("query"), channels, eighth, generator);
  key_ = add_spectral(*make<Sequence>("key"), channels, eighth, generator);
  value_ = add_spectral(*make<Sequence>("value"), channels, channels, generator);
}

// fastai's softmax is over its queries: what attention calls queries are its keys.
at::Tensor SelfAttention::forward(const at::Tensor& input, const Pass& pass) {
  const auto places = input.flatten(2).transpose(1, 2);
  const auto scores =
      at::bmm(key_->forward(places, pass), query_->forward(places, pass).transpose(1, 2));
  const auto mixed = at::bmm(scores.softmax(2), value_->forward(places, pass));
  return map_of(mixed.mul(gamma_).add_(places), input);
}

}  // namespace ddptrain
