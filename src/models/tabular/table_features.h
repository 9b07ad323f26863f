// What a network for tables reads: embeddings of categories, then numbers, as one node of the
// graph.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "models/layers/dropout.h"
#include "models/layers/norm.h"

namespace ddptrain {

struct TableInputs {
  at::Tensor codes;                        // int64 [rows, columns]; undefined: no categories
  at::Tensor numbers;                      // [rows, columns]; undefined: none
  std::span<const at::Tensor> embeddings;  // [values, width] of each column of codes
  const Dropout* dropout = nullptr;        // of the embeddings
  BatchNorm* norm = nullptr;               // of the numbers; null: none
};

/// [rows, all widths + columns of numbers]. Undefined where the pass is not one for nodes of our
/// own (models/layers/dense_chain.h), or a code is no row of its embedding: operators of LibTorch
/// compute those, and name the error.
at::Tensor table_features(const TableInputs& inputs, const Pass& pass);

}  // namespace ddptrain
