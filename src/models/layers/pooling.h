// Pooling, flattening and the identity: steps of a chain without parameters.
#pragma once

#include "models/module.h"
#include "models/operators/max_pool.h"

namespace ddptrain {

class MaxPool final : public Module {
 public:
  explicit MaxPool(const PoolWindow& window) : window_(window) {}
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  PoolWindow window_;
};

class AveragePool final : public Module {
 public:
  explicit AveragePool(const PoolWindow& window) : window_(window) {}
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  PoolWindow window_;
};

/// Halves height and width without aliasing (Zhang, ICML 2019): the maximum over 2x2 windows at
/// every place, then every second place of a 1-2-1 binomial blur. Borders are padded with zeros as
/// in kornia's MaxBlurPool2D; an odd size n gives (n + 1) / 2.
class MaxBlurPool final : public Module {
 public:
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  at::Tensor blur_;  // [channels, 1, 3, 3] of the last pass
};

/// To `size` x `size` averages whatever the input's size.
class AdaptiveAveragePool final : public Module {
 public:
  explicit AdaptiveAveragePool(std::int64_t size) : size_(size) {}
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  std::int64_t size_;
};

/// [rows, ...] to [rows, product].
class Flatten final : public Module {
 public:
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
};

class Identity final : public Module {
 public:
  at::Tensor forward(const at::Tensor& input, const Pass&) override { return input; }
};

}  // namespace ddptrain
