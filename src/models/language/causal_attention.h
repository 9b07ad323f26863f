// Attention of each token to itself and to those before it in its document (Vaswani et al. 2017,
// section 3.2), without a table of all pairs.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/operators/dropout_mask.h"

namespace ddptrain {

/// Tokens `first` to `first + count - 1` of a row.
struct DocumentRange {
  std::int64_t row = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Every token of a batch is in one document; in the order of rows, then tokens. Null: each row is
/// one.
using Documents = std::shared_ptr<const std::vector<DocumentRange>>;

/// Of positions int64 [rows, time]: a document begins with a row, and where a position is 0.
Documents documents_of(const at::Tensor& positions);

/// [rows, time, heads, features] each.
struct AttentionHeads {
  at::Tensor query, key, value;
};

/// Dropout of attention weights: `rows` are those of a pass, with any number of elements.
struct AttentionDropout {
  MaskRows rows;
  double p = 0;
};

struct CausalAttention {
  double scale = 1;  // of the products of queries and keys
  Documents documents = nullptr;
  std::optional<AttentionDropout> dropout = {};  // none where nothing is dropped
};

/// softmax(scale * query key^T) value, each head by itself: [rows, time, heads * features]. A
/// document's result is the same to the last bit wherever it is in a block. Memory grows with time,
/// not with its square.
at::Tensor causal_attention(const AttentionHeads& heads, const CausalAttention& attention);

/// The same of one sequence of which only the last tokens are queries: query [new, heads,
/// features], key and value [heads, all, features]; [new, heads * features]. Without a graph.
at::Tensor continued_attention(const at::Tensor& query, const at::Tensor& key,
                               const at::Tensor& value, double scale);

}  // namespace ddptrain
