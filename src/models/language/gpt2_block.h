// A block of GPT-2 (Radford et al. 2019): attention, then a two-layer network, a norm before each.
#pragma once

#include "models/language/causal_attention.h"
#include "models/language/continued_rows.h"
#include "models/language/conv1d.h"
#include "models/language/key_value_memory.h"
#include "models/layers/activation.h"
#include "models/layers/dropout.h"
#include "models/layers/norm.h"

namespace ddptrain {

struct Gpt2BlockShape {
  std::int64_t width = 768;
  std::int64_t heads = 12;  // divides the width
  std::int64_t inner = 3072;
  Activation activation = Activation::gelu_tanh;
  double epsilon = 1e-5;
  double attention_scale = 0.125;  // of the products of queries and keys
  double attn_pdrop = 0.1;
  double resid_pdrop = 0.1;
};

/// transformers' GPT2Attention: `c_attn` gives queries, keys and values one after the other.
class Gpt2Attention final : public Module {
 public:
  explicit Gpt2Attention(const Gpt2BlockShape& shape);
  at::Tensor attend(const at::Tensor& input, const Documents& documents, const Pass& pass);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  /// Of further tokens [n, width]; their keys and values are added to the memory's `layer`.
  at::Tensor extend(const at::Tensor& input, const std::vector<SequenceRows>& sequences,
                    std::int64_t layer, KeyValueMemory& memory);
  std::vector<at::Tensor> weights() const { return {c_attn_->weight(), c_proj_->weight()}; }

 private:
  AttentionHeads heads_of(const at::Tensor& projected) const;
  Gpt2BlockShape shape_;
  Conv1d *c_attn_, *c_proj_;
  Dropout* dropout_;
};

/// transformers' GPT2MLP.
class Gpt2Mlp final : public Module {
 public:
  explicit Gpt2Mlp(const Gpt2BlockShape& shape);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  at::Tensor extend(const at::Tensor& input, const std::vector<SequenceRows>& sequences);
  std::vector<at::Tensor> weights() const { return {c_fc_->weight(), c_proj_->weight()}; }

 private:
  Activation activation_;
  Conv1d *c_fc_, *c_proj_;
  Dropout* dropout_;
};

/// transformers' GPT2Block: [rows, time, width] to the same.
class Gpt2Block final : public Module {
 public:
  explicit Gpt2Block(const Gpt2BlockShape& shape);
  at::Tensor read(const at::Tensor& input, const Documents& documents, const Pass& pass);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  bool is_block() const override { return true; }
  at::Tensor extend(const at::Tensor& input, const std::vector<SequenceRows>& sequences,
                    std::int64_t layer, KeyValueMemory& memory);
  /// Of each half: the weight of the first layer, then of that whose output is added to the input.
  std::vector<std::vector<at::Tensor>> weights() const {
    return {attn_->weights(), mlp_->weights()};
  }

 private:
  LayerNorm* ln_1_;
  Gpt2Attention* attn_;
  LayerNorm* ln_2_;
  Gpt2Mlp* mlp_;
};

}  // namespace ddptrain
