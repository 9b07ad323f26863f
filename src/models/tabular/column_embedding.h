// fastai.layers.Embedding: a vector for each value of a column of categories.
#pragma once

#include <ATen/core/Generator.h>

#include "models/module.h"

namespace ddptrain {

/// Parameter `weight` [values, width], a truncated normal of deviation 0.01; drawn twice, as
/// nn.Embedding draws before it. Codes [...] to [..., width].
class ColumnEmbedding final : public Module {
 public:
  ColumnEmbedding(std::int64_t values, std::int64_t width, const at::Generator& generator);
  at::Tensor forward(const at::Tensor& codes, const Pass& pass) override;
  const at::Tensor& weight() const { return weight_; }

 private:
  at::Tensor weight_;
};

}  // namespace ddptrain
