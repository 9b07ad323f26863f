// The encoder of a vision transformer: positions, blocks of attention and two-layer networks, norm.
#pragma once

#include <optional>

#include "models/layers/activation.h"
#include "models/layers/chain.h"
#include "models/layers/dropout.h"
#include "models/layers/norm.h"

namespace ddptrain {

struct VisionEncoderShape {
  std::int64_t places = 0;  // that have a position: patches, and the tokens before them or not
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t features = 768;
  std::int64_t hidden = 3072;  // of the two-layer networks
  double dropout = 0;
  double attention_dropout = 0;
  std::optional<double> layer_scale = {};  // first factors on what the halves of a block add
  bool pre_norm = false;                   // a norm before the blocks
  Activation activation = Activation::gelu;
  double norm_eps = 1e-6;
};

/// [rows, places, features] to the same.
class VisionEncoder final : public Module {
 public:
  VisionEncoder(const VisionEncoderShape& shape, const at::Generator& generator);
  /// [rows, tokens, features] before [rows, patches, features]; there are positions of both, or of
  /// the patches alone. Undefined tokens are none.
  at::Tensor encode(const at::Tensor& tokens, const at::Tensor& patches, const Pass& pass);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    return encode({}, input, pass);
  }

 private:
  at::Tensor pos_embedding_;
  Dropout* dropout_;
  LayerNorm* ln_pre_ = nullptr;
  Sequence* layers_;
  LayerNorm* ln_;
};

}  // namespace ddptrain
