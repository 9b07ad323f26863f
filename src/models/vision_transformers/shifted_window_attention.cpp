#include "models/vision_transformers/shifted_window_attention.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/roll.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <utility>

#include "models/layers/constant.h"
#include "models/layers/initialize.h"

namespace ddptrain {
namespace {

using Grid = WindowGrid;

std::int64_t whole(std::int64_t size, std::int64_t window) {
  return (size + window - 1) / window * window;
}

Grid grid_of(const at::Tensor& map, const WindowAttentionShape& shape) {
  const auto height = whole(map.size(1), shape.window), width = whole(map.size(2), shape.window);
  return {shape.window, height, width, height > shape.window ? shape.shift : 0,
          width > shape.window ? shape.shift : 0};
}

// [rows, height, width, n] to [rows, windows, window * window, n].
at::Tensor cut(const at::Tensor& map, const Grid& g) {
  const auto rows = map.size(0), n = map.size(3);
  return map.reshape({rows, g.height / g.window, g.window, g.width / g.window, g.window, n})
      .permute({0, 1, 3, 2, 4, 5})
      .reshape({rows, g.windows(), g.window * g.window, n});
}

at::Tensor join(const at::Tensor& windows, const Grid& g) {
  const auto rows = windows.size(0), n = windows.size(3);
  return windows.reshape({rows, g.height / g.window, g.width / g.window, g.window, g.window, n})
      .permute({0, 1, 3, 2, 4, 5})
      .reshape({rows, g.height, g.width, n});
}

// Numbers of the bands of an axis that lie side by side only because the map was rolled.
at::Tensor bands(std::int64_t size, std::int64_t shift, const Grid& g) {
  const auto place = at::arange(size, at::kLong);
  const auto last = shift > 0 ? size - g.window : size;
  return place.ge(last).to(at::kLong).add(place.ge(size - shift));
}

// [windows, 1, places, places]: -100 between places that were not neighbors, else 0.
at::Tensor mask_of(const Grid& g) {
  const auto rows = bands(g.height, g.down, g), columns = bands(g.width, g.right, g);
  const auto map = rows.mul(3).unsqueeze(1).add(columns).view({1, g.height, g.width, 1});
  const auto windows = cut(map, g).view({g.windows(), 1, g.window * g.window});
  return windows.unsqueeze(3).ne(windows.unsqueeze(2)).to(at::kDouble).mul(-100);
}

// Rows of the table for each pair of places: how far below, then how far right, plus window - 1.
at::Tensor pair_index(std::int64_t window) {
  const auto places = window * window, span = 2 * window - 1;
  const auto index = at::empty({places * places}, at::kLong);
  auto* to = index.mutable_data_ptr<std::int64_t>();
  for (std::int64_t a = 0; a < places; ++a)
    for (std::int64_t b = 0; b < places; ++b) {
      const auto down = a / window - b / window + window - 1;
      const auto right = a % window - b % window + window - 1;
      *to++ = down * span + right;
    }
  return index;
}

}  // namespace

ShiftedWindowAttention::ShiftedWindowAttention(const WindowAttentionShape& shape,
                                               const at::Generator& generator)
    : shape_(shape) {
  const auto span = 2 * shape.window - 1;
  qkv_ = make<Linear>("qkv", shape.features, 3 * shape.features, generator);
  proj_ = make<Linear>("proj", shape.features, shape.features, generator);
  bias_table_ = parameter("relative_position_bias_table", at::zeros({span * span, shape.heads}));
  initialize::truncated_normal(bias_table_, 0.02, generator);
  bias_index_ = buffer("relative_position_index", pair_index(shape.window));
  attention_dropout_ = make<Dropout>("attention_dropout", shape.attention_dropout);
  dropout_ = make<Dropout>("dropout", shape.dropout);
}

at::Tensor ShiftedWindowAttention::forward(const at::Tensor& input, const Pass& pass) {
  const auto height = input.size(1), width = input.size(2);
  const auto grid = grid_of(input, shape_);
  auto map = at::constant_pad_nd(input, {0, 0, 0, grid.width - width, 0, grid.height - height});
  if (grid.rolled()) map = at::roll(map, {-grid.down, -grid.right}, {1, 2});
  const auto mask = grid.rolled() ? mask_for(grid, map) : at::Tensor();
  const auto attended = proj_->forward(attend(cut(map, grid), mask, pass), pass);
  map = join(dropout_->forward(attended, pass), grid);
  if (grid.rolled()) map = at::roll(map, {grid.down, grid.right}, {1, 2});
  return map.narrow(1, 0, height).narrow(2, 0, width);
}

const at::Tensor& ShiftedWindowAttention::mask_for(const WindowGrid& grid, const at::Tensor& like) {
  if (std::exchange(mask_grid_, grid) != grid) mask_.reset();
  keep_constant(mask_, like, [&grid] { return mask_of(grid); });
  return mask_;
}

// The mask is undefined where there is none.
at::Tensor ShiftedWindowAttention::attend(const at::Tensor& windows, const at::Tensor& mask,
                                          const Pass& pass) {
  const auto rows = windows.size(0), count = windows.size(1), places = windows.size(2);
  const auto size = shape_.features / shape_.heads;
  const auto qkv = qkv_->forward(windows, pass)
                       .reshape({rows, count, places, 3, shape_.heads, size})
                       .permute({3, 0, 1, 4, 2, 5});
  const bool drops = pass.training && shape_.attention_dropout > 0;
  if (!windows.is_cpu() && !drops && rows > 0)
    return attend_at_once({qkv.select(0, 0), qkv.select(0, 1), qkv.select(0, 2)}, mask)
        .transpose(2, 3)
        .reshape({rows, count, places, shape_.features});
  const auto query = qkv.select(0, 0).mul(1 / std::sqrt(static_cast<double>(size)));
  auto scores = at::matmul(query, qkv.select(0, 1).transpose(-2, -1)).add(position_bias());
  if (mask.defined()) scores = scores.add(mask);
  const auto weights = attention_dropout_->forward(scores.softmax(-1), pass);
  return at::matmul(weights, qkv.select(0, 2))
      .transpose(2, 3)
      .reshape({rows, count, places, shape_.features});
}

// One fused kernel of the device, whose sums have another order than those of the CPU above.
at::Tensor ShiftedWindowAttention::attend_at_once(const Heads& heads,
                                                  const at::Tensor& mask) const {
  const auto& sizes = heads.query.sizes();
  const auto rows = sizes[0], count = sizes[1], places = sizes[3];
  auto bias = position_bias();
  if (mask.defined()) bias = bias.add(mask);
  bias = bias.to(heads.query.scalar_type())
             .expand({rows, count, shape_.heads, places, places})
             .flatten(0, 1);
  const auto joined = at::scaled_dot_product_attention(
      heads.query.flatten(0, 1), heads.key.flatten(0, 1), heads.value.flatten(0, 1), bias);
  return joined.unflatten(0, {rows, count});
}

// [heads, places, places].
at::Tensor ShiftedWindowAttention::position_bias() const {
  const auto places = shape_.window * shape_.window;
  return at::embedding(bias_table_, bias_index_)
      .view({places, places, shape_.heads})
      .permute({2, 0, 1});
}

}  // namespace ddptrain
