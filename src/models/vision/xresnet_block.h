// fastai's ConvLayer, SEModule and ResBlock.
#pragma once

#include <optional>

#include "models/blocks.h"
#include "models/layers/activation.h"
#include "models/layers/chain.h"

namespace ddptrain {

enum class XPool { average, max, max_blur };
std::span<const std::string_view> names(XPool);

/// ConvLayer: convolution, batch norm (or a bias in its place), activation.
struct ConvLayerShape {
  enum class Norm { none, one, zero };  // the batch norm's first scale
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t groups = 1;
  Norm norm = Norm::one;
};
std::unique_ptr<Sequence> conv_layer(const ConvLayerShape& shape, Activation activation,
                                     const at::Generator& generator);

/// ResBlock from ni * expansion to nf * expansion channels.
struct XBlockShape {
  std::int64_t expansion = 1;
  std::int64_t ni = 64, nf = 64;
  std::int64_t nh1 = 64, nh2 = 64;  // inside
  std::int64_t stride = 1;
  std::int64_t groups = 1;
  std::int64_t reduction = 0;
  bool self_attention = false;
  bool norms = true;  // of convolutions; false: they have biases
  Activation activation = Activation::relu;
  XPool pool = XPool::average;
};

class XBlock final : public ObservedBlock {
 public:
  XBlock(const XBlockShape& shape, const at::Generator& generator);

 private:
  at::Tensor compute(const at::Tensor& input, const Pass& pass) override;
  Sequence* convpath_;
  Sequence* idpath_;
  Activation activation_;
};

}  // namespace ddptrain
