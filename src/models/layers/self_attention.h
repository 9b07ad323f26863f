// fastai's SelfAttention and SimpleSelfAttention over the places of a feature map.
#pragma once

#include <ATen/core/Generator.h>

#include "models/module.h"

namespace ddptrain {

/// torch.nn.Conv1d with kernel 1 and no bias under torch.nn.utils.spectral_norm (Miyato et al.
/// 2018): the weight is divided by its largest singular value, for which each training pass makes
/// one power iteration. [rows, places, in] to [rows, places, out].
class SpectralConvolution final : public Module {
 public:
  enum class FirstWeights { of_conv1d, kaiming_normal };
  SpectralConvolution(std::int64_t in, std::int64_t out, FirstWeights first,
                      const at::Generator& generator);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  const at::Tensor& weight() const { return weight_; }

 private:
  at::Tensor normalized_weight(bool training);
  at::Tensor weight_, u_, v_;  // weight_orig [out, in, 1], weight_u, weight_v
};

/// With x as [channels, places] of each row: x + gamma (x x^T)(W x), gamma 0 at first.
class SimpleSelfAttention final : public Module {
 public:
  SimpleSelfAttention(std::int64_t channels, const at::Generator& generator);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  at::Tensor gamma_;
  SpectralConvolution* conv_;
};

/// Zhang et al. 2019 (SAGAN), fastai.layers.SelfAttention: x + gamma V softmax(Q^T K), gamma 0 at
/// first, with queries and keys of an eighth of the channels; each place j is a sum over the places
/// i weighted by softmax_i(q_i . k_j).
class SelfAttention final : public Module {
 public:
  SelfAttention(std::int64_t channels, const at::Generator& generator);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  at::Tensor gamma_;
  SpectralConvolution *query_, *key_, *value_;
};

}  // namespace ddptrain
