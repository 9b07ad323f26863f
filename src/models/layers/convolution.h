// torch.nn.Conv2d and torch.nn.Linear: parameters `weight` and, where asked for, `bias`.
#pragma once

#include <ATen/core/Generator.h>

#include "models/module.h"

namespace ddptrain {

/// Square kernels; `groups` divides both `in` and `out`.
struct ConvolutionShape {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t groups = 1;
  bool bias = false;
  std::int64_t dilation = 1;
};

/// [rows, in, height, width] to [rows, out, height', width'].
class Convolution final : public Module {
 public:
  Convolution(const ConvolutionShape& shape, const at::Generator& generator);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  std::vector<at::Tensor> autocast_parameters() const override { return {weight_, bias_}; }
  const at::Tensor& weight() const { return weight_; }
  const at::Tensor& bias() const { return bias_; }  // undefined when there is none

 private:
  ConvolutionShape shape_;
  at::Tensor weight_, bias_;
};

enum class LinearBias { learned, none };

/// [rows, ..., in] to [rows, ..., out].
class Linear final : public Module {
 public:
  Linear(std::int64_t in, std::int64_t out, const at::Generator& generator,
         LinearBias bias = LinearBias::learned);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  std::vector<at::Tensor> autocast_parameters() const override { return {weight_, bias_}; }
  const at::Tensor& weight() const { return weight_; }
  const at::Tensor& bias() const { return bias_; }  // undefined when there is none

 private:
  at::Tensor weight_, bias_;
};

}  // namespace ddptrain
