#include "data/mix/blend.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace ddptrain {
namespace {

/// Plain loops: rows are blended by loading threads, which leave torch's own threads alone.
template <class T>
void blend_values(T* row, const T* partner, std::int64_t count, double share) {
  const T weight = static_cast<T>(share);
  for (std::int64_t i = 0; i < count; ++i) row[i] = partner[i] + weight * (row[i] - partner[i]);
}

template <class T>
void paste_values(const at::Tensor& row, const at::Tensor& partner, const Patch& patch) {
  T* to = row.mutable_data_ptr<T>();
  const T* from = partner.const_data_ptr<T>();
  for (std::int64_t c = 0; c < row.size(0); ++c)
    for (std::int64_t y = patch.top; y < patch.bottom; ++y)
      for (std::int64_t x = patch.left; x < patch.right; ++x) {
        const auto at = c * row.stride(0) + y * row.stride(1) + x * row.stride(2);
        to[at] = from[at];
      }
}

void require_alike(const at::Tensor& row, const at::Tensor& partner) {
  DDP_CHECK(row.sizes() == partner.sizes() && row.strides() == partner.strides() &&
                row.scalar_type() == partner.scalar_type(),
            "rows of one batch");
}

}  // namespace

void blend(const at::Tensor& row, const at::Tensor& partner, double share) {
  require_alike(row, partner);
  DDP_CHECK(row.is_non_overlapping_and_dense(), "a row is one block of memory");
  if (row.scalar_type() == at::kDouble)
    blend_values(row.mutable_data_ptr<double>(), partner.const_data_ptr<double>(), row.numel(),
                 share);
  else
    blend_values(row.mutable_data_ptr<float>(), partner.const_data_ptr<float>(), row.numel(),
                 share);
}

void paste(const at::Tensor& row, const at::Tensor& partner, const Patch& patch) {
  require_alike(row, partner);
  if (row.scalar_type() == at::kDouble)
    paste_values<double>(row, partner, patch);
  else if (row.scalar_type() == at::kByte)
    paste_values<std::uint8_t>(row, partner, patch);
  else
    paste_values<float>(row, partner, patch);
}

void mix_row(const RowMix& mix, std::span<const at::Tensor> row,
             std::span<const at::Tensor> partner) {
  if (mix.how == RowMix::How::paste) paste(row[0], partner[0], mix.patch);
  if (mix.how == RowMix::How::blend)
    for (std::size_t i = 0; i < row.size(); ++i) blend(row[i], partner[i], mix.share);
}

Patch patch_at(std::int64_t x, std::int64_t y, double share, std::int64_t width,
               std::int64_t height) {
  const double cut = std::sqrt(1 - share);
  const auto half = [&](std::int64_t side) {
    return static_cast<std::int64_t>(std::nearbyint(static_cast<double>(side) * cut)) / 2;
  };
  const auto inside = [](std::int64_t at, std::int64_t side) {
    return std::clamp<std::int64_t>(at, 0, side);
  };
  return {inside(x - half(width), width), inside(y - half(height), height),
          inside(x + half(width), width), inside(y + half(height), height)};
}

}  // namespace ddptrain
