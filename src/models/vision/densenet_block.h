// The pieces of torchvision's DenseNet.
#pragma once

#include <vector>

#include "models/blocks.h"
#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/layers/norm.h"

namespace ddptrain {

/// Channels in and out of a block, and how it makes them.
struct DenseBlockShape {
  std::int64_t in = 64;
  std::int64_t layers = 6;
  std::int64_t growth = 32;
  double drop_rate = 0;
  std::int64_t out() const { return in + layers * growth; }
};

/// [rows, in, ...] to [rows, growth, ...] by way of 4 * growth channels.
class DenseLayer final : public ObservedBlock {
 public:
  DenseLayer(const DenseBlockShape& shape, std::int64_t in, const at::Generator& generator);

 private:
  at::Tensor compute(const at::Tensor& input, const Pass& pass) override;

  BatchNorm *norm1_, *norm2_;
  Convolution *conv1_, *conv2_;
  Dropout* dropout_;
};

/// Layers that each see the block's input and what all layers before them made.
class DenseBlock final : public Module {
 public:
  DenseBlock(const DenseBlockShape& shape, const at::Generator& generator);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  std::vector<DenseLayer*> layers_;
};

/// Halves channels, height and width.
class DenseTransition final : public ObservedBlock {
 public:
  DenseTransition(std::int64_t in, const at::Generator& generator);

 private:
  at::Tensor compute(const at::Tensor& input, const Pass& pass) override;

  BatchNorm* norm_;
  Convolution* conv_;
};

}  // namespace ddptrain
