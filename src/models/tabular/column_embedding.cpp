#include "models/tabular/column_embedding.h"

#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>

#include "models/layers/initialize.h"

namespace ddptrain {

ColumnEmbedding::ColumnEmbedding(std::int64_t values, std::int64_t width,
                                 const at::Generator& generator)
    : weight_(parameter("weight", at::empty({values, width}))) {
  initialize::normal(weight_, 1, generator);
  initialize::normal(weight_, 1, generator);
  initialize::fold(weight_, 2, 0.01);
}

at::Tensor ColumnEmbedding::forward(const at::Tensor& codes, const Pass&) {
  return at::embedding(weight_, codes);
}

}  // namespace ddptrain
