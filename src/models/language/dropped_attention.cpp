#include "models/language/dropped_attention.h"

#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <limits>

#include "autograd/function.h"
#include "base/random.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kQueries = 64;

/// Some queries and the keys that they see.
struct QueryChunk {
  std::int64_t number, first, count;
  std::int64_t seen() const { return first + count; }
};

/// Attention weights times masks, which both passes draw.
class DroppedWeights {
 public:
  DroppedWeights(double scale, const AttentionDropout& dropout)
      : scale_(scale),
        p_(dropout.p),
        rows_(dropout.rows),
        positions_(dropout.rows.positions.begin(), dropout.rows.positions.end()) {
    rows_.positions = positions_;
  }

  double scale() const { return scale_; }

  /// [rows, heads, queries, keys] times its masks.
  at::Tensor drop(const at::Tensor& weights, const QueryChunk& chunk) const {
    auto rows = rows_;
    rows.key = mix(rows.key, static_cast<std::uint64_t>(chunk.number));
    rows.elements = weights.numel() / weights.size(0);
    return ddptrain::drop(weights, rows, p_);
  }

 private:
  double scale_;
  double p_;
  MaskRows rows_;
  std::vector<std::int64_t> positions_;
};

at::ScalarType precise(at::ScalarType type) {
  return type == at::kDouble ? at::kDouble : at::kFloat;
}

/// softmax of a chunk's scores, in single precision at least.
at::Tensor attention_weights(const AttentionHeads& heads, double scale, const QueryChunk& chunk) {
  const auto query = heads.query.narrow(2, chunk.first, chunk.count);
  const auto key = heads.key.narrow(2, 0, chunk.seen());
  auto scores = at::matmul(query, key.transpose(2, 3)).to(precise(query.scalar_type())).mul_(scale);
  const auto later =
      at::ones({chunk.count, chunk.count}, query.options().dtype(at::kBool)).triu_(1);
  scores.narrow(3, chunk.first, chunk.count)
      .masked_fill_(later, -std::numeric_limits<double>::infinity());
  return scores.softmax(-1);
}

template <class Visit>
void each_query_chunk(const at::Tensor& query, const Visit& visit) {
  const auto time = query.size(2);
  for (std::int64_t first = 0; first < time; first += kQueries)
    visit(QueryChunk{first / kQueries, first, std::min(kQueries, time - first)});
}

class DroppedAttention final : public AutogradFunction {
 public:
  DroppedAttention(double scale, const AttentionDropout& dropout) : dropped_(scale, dropout) {}

  at::Tensor forward(FunctionContext& context, const std::vector<at::Tensor>& inputs) override {
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    context.save(inputs);
    const AttentionHeads heads{inputs[0], inputs[1], inputs[2]};
    const auto output = at::empty_like(heads.query);
    each_query_chunk(heads.query, [&](const QueryChunk& chunk) {
      const auto weights = attention_weights(heads, dropped_.scale(), chunk);
      const auto kept = dropped_.drop(weights, chunk).to(heads.value.scalar_type());
      output.narrow(2, chunk.first, chunk.count)
          .copy_(at::matmul(kept, heads.value.narrow(2, 0, chunk.seen())));
    });
    return output;
  }

  std::vector<at::Tensor> backward(const FunctionContext& context,
                                   const at::Tensor& gradient) override {
    const auto saved = context.saved();
    const AttentionHeads heads{saved[0], saved[1], saved[2]};
    const AttentionHeads found{at::zeros_like(saved[0]), at::zeros_like(saved[1]),
                               at::zeros_like(saved[2])};
    each_query_chunk(heads.query, [&](const QueryChunk& chunk) {
      add_gradients(heads, gradient.narrow(2, chunk.first, chunk.count), chunk, found);
    });
    return {found.query, found.key, found.value};
  }

 private:
  void add_gradients(const AttentionHeads& heads, const at::Tensor& gradient,
                     const QueryChunk& chunk, const AttentionHeads& found) const {
    const auto type = heads.query.scalar_type();
    const auto seen = [&](const at::Tensor& all) { return all.narrow(2, 0, chunk.seen()); };
    const auto weights = attention_weights(heads, dropped_.scale(), chunk);
    const auto kept = dropped_.drop(weights, chunk).to(type);
    seen(found.value).add_(at::matmul(kept.transpose(2, 3), gradient));
    const auto of_kept = at::matmul(gradient, seen(heads.value).transpose(2, 3));
    const auto of_weights = dropped_.drop(of_kept.to(weights.scalar_type()), chunk);
    const auto of_scores =
        at::_softmax_backward_data(of_weights, weights, -1, weights.scalar_type())
            .mul_(dropped_.scale())
            .to(type);
    found.query.narrow(2, chunk.first, chunk.count).copy_(at::matmul(of_scores, seen(heads.key)));
    seen(found.key).add_(
        at::matmul(of_scores.transpose(2, 3), heads.query.narrow(2, chunk.first, chunk.count)));
  }

  DroppedWeights dropped_;
};

}  // namespace

at::Tensor dropped_attention(const AttentionHeads& heads, double scale,
                             const AttentionDropout& dropout) {
  return apply_function(
      c10::make_intrusive<DroppedAttention>(scale, dropout),
      {heads.query.contiguous(), heads.key.contiguous(), heads.value.contiguous()});
}

}  // namespace ddptrain
