// torch.nn.Embedding: a vector for each number.
#pragma once

#include <ATen/core/Generator.h>

#include "models/module.h"

namespace ddptrain {

/// Parameter `weight` [values, width], drawn from a standard normal; the vector of `padding` (-1:
/// of none) is zero at first and receives no gradient. Whole numbers [...] to [..., width].
class Embedding final : public Module {
 public:
  Embedding(std::int64_t values, std::int64_t width, std::int64_t padding,
            const at::Generator& generator);
  at::Tensor forward(const at::Tensor& numbers, const Pass& pass) override;
  const at::Tensor& weight() const { return weight_; }

 private:
  at::Tensor weight_;
  std::int64_t padding_;
};

}  // namespace ddptrain
