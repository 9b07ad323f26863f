#include "models/language/causal_attention.h"

#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <limits>

#include "base/random.h"
#include "models/language/dropped_attention.h"

namespace ddptrain {
namespace {

/// Without dropout; [rows, heads, time, features] each. Undefined mask: causal.
at::Tensor fused_attention(const AttentionHeads& heads, double scale, const at::Tensor& mask) {
  const auto& [query, key, value] = heads;
  const auto seen = mask.defined() ? std::optional(mask) : std::nullopt;
  if (query.is_cpu())
    return std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(
        query, key, value, 0, !mask.defined(), seen, scale));
  return at::scaled_dot_product_attention(query, key, value, seen, 0, !mask.defined(), scale);
}

at::Tensor attend(const AttentionHeads& heads, const CausalAttention& attention) {
  if (heads.query.numel() == 0) return heads.value;
  if (attention.dropout) return dropped_attention(heads, attention.scale, *attention.dropout);
  return fused_attention(heads, attention.scale, {});
}

/// The masks of a document follow from its row and its place there.
std::optional<AttentionDropout> dropout_of(const CausalAttention& attention,
                                           const DocumentRange& document) {
  if (!attention.dropout) return std::nullopt;
  auto rows = attention.dropout->rows;
  rows.first_row = rows.position(document.row);
  rows.positions = {};
  rows.rows = 1;
  rows.key = mix(rows.key, static_cast<std::uint64_t>(document.first));
  return AttentionDropout{rows, attention.dropout->p};
}

/// Each by itself in memory of its own, so that its neighbors cannot change how it is computed.
at::Tensor attend_by_documents(const AttentionHeads& heads, const CausalAttention& attention) {
  std::vector<std::int64_t> counts;
  for (const auto& document : *attention.documents) counts.push_back(document.count);
  const auto split = [&](const at::Tensor& all) {
    return all.flatten(0, 1).split_with_sizes(counts);
  };
  const auto placed = [](const at::Tensor& tokens) {
    return tokens.unsqueeze(0).transpose(1, 2).contiguous();
  };
  const auto queries = split(heads.query), keys = split(heads.key), values = split(heads.value);
  std::vector<at::Tensor> outputs;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const CausalAttention own{attention.scale, nullptr,
                              dropout_of(attention, (*attention.documents)[i])};
    const auto output = attend({placed(queries[i]), placed(keys[i]), placed(values[i])}, own);
    outputs.push_back(output.transpose(1, 2).reshape({counts[i], -1}));
  }
  return at::cat(outputs).view({heads.query.size(0), heads.query.size(1), -1});
}

}  // namespace

Documents documents_of(const at::Tensor& positions) {
  const auto host = positions.to(at::kCPU).contiguous();
  const auto* values = host.const_data_ptr<std::int64_t>();
  auto all = std::make_shared<std::vector<DocumentRange>>();
  for (std::int64_t row = 0; row < host.size(0); ++row)
    for (std::int64_t t = 0; t < host.size(1); ++t) {
      if (t == 0 || *values == 0) all->push_back({row, t, 0});
      ++all->back().count;
      ++values;
    }
  return all;
}

at::Tensor causal_attention(const AttentionHeads& heads, const CausalAttention& attention) {
  const auto rows = heads.query.size(0), time = heads.query.size(1);
  if (attention.documents && heads.query.numel() > 0) return attend_by_documents(heads, attention);
  const auto output =
      attend({heads.query.transpose(1, 2), heads.key.transpose(1, 2), heads.value.transpose(1, 2)},
             attention);
  return output.transpose(1, 2).reshape({rows, time, heads.query.size(2) * heads.query.size(3)});
}

at::Tensor continued_attention(const at::Tensor& query, const at::Tensor& key,
                               const at::Tensor& value, double scale) {
  const auto count = query.size(0), all = key.size(1);
  at::Tensor mask;
  if (count < all)
    mask = at::full({count, all}, -std::numeric_limits<double>::infinity(), query.options())
               .triu_(all - count + 1);
  const auto output = fused_attention(
      {query.unsqueeze(0).transpose(1, 2).contiguous(), key.unsqueeze(0), value.unsqueeze(0)},
      scale, mask);
  return output.transpose(1, 2).reshape({count, -1});
}

}  // namespace ddptrain
