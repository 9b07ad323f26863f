// torchvision's ShiftedWindowAttention: attention inside square windows of a map, which every other
// block rolls so that windows overlap (Liu et al. 2021).
#pragma once

#include "models/layers/convolution.h"
#include "models/layers/dropout.h"

namespace ddptrain {

struct WindowAttentionShape {
  std::int64_t features = 0;
  std::int64_t heads = 1;   // divides features
  std::int64_t window = 7;  // height and width
  std::int64_t shift = 0;   // how far the map is rolled; less than the window
  double attention_dropout = 0;
  double dropout = 0;  // of the output
};

/// A map of whole windows. An axis of one window is not rolled.
struct WindowGrid {
  std::int64_t window = 0, height = 0, width = 0, down = 0, right = 0;
  bool rolled() const { return down + right > 0; }
  std::int64_t windows() const { return height / window * (width / window); }
  bool operator==(const WindowGrid&) const = default;
};

/// [rows, height, width, features] to the same, whatever height and width: the map is padded with
/// zeros to whole windows. Parameter `relative_position_bias_table` [(2 window - 1)^2, heads],
/// buffer `relative_position_index` [window^4], children `qkv` and `proj`.
class ShiftedWindowAttention final : public Module {
 public:
  ShiftedWindowAttention(const WindowAttentionShape& shape, const at::Generator& generator);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  struct Heads {
    at::Tensor query, key, value;  // [rows, windows, heads, places, features / heads]
  };
  at::Tensor attend(const at::Tensor& windows, const at::Tensor& mask, const Pass& pass);
  at::Tensor attend_at_once(const Heads& heads, const at::Tensor& mask) const;
  at::Tensor position_bias() const;
  const at::Tensor& mask_for(const WindowGrid& grid, const at::Tensor& like);

  WindowAttentionShape shape_;
  Linear *qkv_, *proj_;
  at::Tensor bias_table_, bias_index_;
  at::Tensor mask_;  // of mask_grid_
  WindowGrid mask_grid_;
  Dropout *attention_dropout_, *dropout_;
};

}  // namespace ddptrain
