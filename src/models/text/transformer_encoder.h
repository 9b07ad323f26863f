// torch.nn.TransformerEncoder with norm_first: blocks of attention and two-layer networks on rows
// of different lengths.
#pragma once

#include "models/layers/activation.h"
#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/layers/norm.h"
#include "models/layers/transformer.h"

namespace ddptrain {

struct TransformerEncoderShape {
  std::int64_t layers = 2;
  std::int64_t heads = 4;
  std::int64_t features = 128;
  std::int64_t hidden = 512;  // of the two-layer networks
  double dropout = 0;         // of attention weights, hidden numbers and both branches
  Activation activation = Activation::relu;
};

/// torch.nn.TransformerEncoderLayer(norm_first=True, batch_first=True), its names.
class TransformerEncoderLayer final : public Module {
 public:
  TransformerEncoderLayer(const TransformerEncoderShape& shape, const at::Generator& generator);
  /// `padded` as in TransformerEncoder.
  at::Tensor encode(const at::Tensor& input, const at::Tensor& padded, const Pass& pass);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  bool is_block() const override { return true; }

 private:
  Activation activation_;
  MultiHeadAttention* self_attn_;
  Linear* linear1_;
  Dropout* dropout_;
  Linear* linear2_;
  LayerNorm *norm1_, *norm2_;
  Dropout *dropout1_, *dropout2_;
};

class TransformerEncoder final : public Module {
 public:
  TransformerEncoder(const TransformerEncoderShape& shape, const at::Generator& generator);
  /// [rows, places, features] to the same, normalized; places where `padded` (bool [rows, places])
  /// are seen by none. A row must have a place that is not. Undefined: none is padded.
  at::Tensor encode(const at::Tensor& input, const at::Tensor& padded, const Pass& pass);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  std::vector<TransformerEncoderLayer*> layers_;
  LayerNorm* norm_;
};

}  // namespace ddptrain
