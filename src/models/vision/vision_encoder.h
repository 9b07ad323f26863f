// The encoder of a vision transformer: positions, blocks of attention and two-layer networks, norm.
#pragma once

#include "models/layers/chain.h"
#include "models/layers/dropout.h"
#include "models/layers/norm.h"

namespace ddptrain {

struct VisionEncoderShape {
  std::int64_t places = 0;  // patches and the class token
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t features = 768;
  std::int64_t hidden = 3072;  // of the two-layer networks
  double dropout = 0;
  double attention_dropout = 0;
};

/// [rows, places, features] to the same.
class VisionEncoder final : public Module {
 public:
  VisionEncoder(const VisionEncoderShape& shape, const at::Generator& generator);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  at::Tensor pos_embedding_;
  Dropout* dropout_;
  Sequence* layers_;
  LayerNorm* ln_;
};

}  // namespace ddptrain
