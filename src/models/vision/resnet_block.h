// The two residual blocks of torchvision's ResNet.
#pragma once

#include "models/blocks.h"
#include "models/layers/chain.h"
#include "models/layers/convolution.h"
#include "models/layers/norm.h"

namespace ddptrain {

struct ResNetBlockShape {
  std::int64_t in = 64;
  std::int64_t planes = 64;
  std::int64_t stride = 1;
  std::int64_t groups = 1;
  std::int64_t width_per_group = 64;
  std::int64_t dilation = 1;  // of the 3x3 convolution of a bottleneck
};

/// A block that ends in a sum with its input, which a 1x1 convolution with batch norm fits where
/// channels or size change.
class ResNetBlock : public ObservedBlock {
 public:
  /// The batch norm before the sum.
  virtual BatchNorm& last_norm() const = 0;

 protected:
  void add_shortcut(std::unique_ptr<Sequence> shortcut);  // null: the input itself
  /// relu(last_norm(residual) + shortcut(input)).
  at::Tensor norm_add_relu(const at::Tensor& residual, const at::Tensor& input, const Pass& pass);

 private:
  Sequence* downsample_ = nullptr;
};

class BasicBlock final : public ResNetBlock {
 public:
  static constexpr std::int64_t expansion = 1;
  BasicBlock(const ResNetBlockShape& shape, const at::Generator& generator);
  BatchNorm& last_norm() const override { return *bn2_; }

 private:
  at::Tensor compute(const at::Tensor& input, const Pass& pass) override;
  Convolution *conv1_, *conv2_;
  BatchNorm *bn1_, *bn2_;
};

class Bottleneck final : public ResNetBlock {
 public:
  static constexpr std::int64_t expansion = 4;
  Bottleneck(const ResNetBlockShape& shape, const at::Generator& generator);
  BatchNorm& last_norm() const override { return *bn3_; }

 private:
  at::Tensor compute(const at::Tensor& input, const Pass& pass) override;
  Convolution *conv1_, *conv2_, *conv3_;
  BatchNorm *bn1_, *bn2_, *bn3_;
};

}  // namespace ddptrain
