#include "data/targets/alignment.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/grid_sampler.h>

#include <limits>

#include "base/error.h"
#include "transforms/geometry/projection.h"

namespace ddptrain {
namespace {

constexpr double kNotSeen = std::numeric_limits<double>::quiet_NaN();
constexpr double kRounding = 1e-6;                // pixels
constexpr std::int64_t kBilinear = 0, kEdge = 1;  // of grid_sampler

double to_unit(double pixel, double size) { return pixel * 2 / size - 1; }
double to_pixel(double unit, double size) { return (unit + 1) / 2 * size; }

/// For each pixel of `to` its place in `from`, x and y of -1 .. 1; far outside where there is none.
void fill_grid(const ImagePlace& from, const ImagePlace& to, at::Tensor grid) {
  const auto map = projection(from.corners, to.corners);
  const auto height = grid.size(0), width = grid.size(1);
  auto* out = grid.mutable_data_ptr<double>();
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const auto at = moved(map, {double(x) + 0.5, double(y) + 0.5});
      *out++ = to_unit(at.x, from.row_width);
      *out++ = to_unit(at.y, from.row_height);
    }
}

at::Tensor grid_of(const at::Tensor& values, const ImagePlaces& from, const ImagePlaces& to) {
  const auto rows = values.size(0);
  auto grid = at::empty({rows, values.size(2), values.size(3), 2}, at::kDouble);
  for (std::int64_t row = 0; row < rows; ++row)
    fill_grid(from.at(std::size_t(row)), to.at(std::size_t(row)), grid[row]);
  return grid;
}

}  // namespace

at::Tensor aligned_pixels(const at::Tensor& values, const ImagePlaces& from,
                          const ImagePlaces& to) {
  DDP_CHECK(values.dim() == 4, "numbers of pixels");
  if (values.size(0) == 0) return values;
  const auto grid = grid_of(values, from, to);
  const auto found = at::grid_sampler(values, grid.to(values.device()), kBilinear, kEdge,
                                      /*align_corners=*/false);
  const auto side = static_cast<double>(std::min(values.size(2), values.size(3)));
  const auto outside = grid.abs().gt(1 + kRounding / side).any(3).unsqueeze(1);
  return found.masked_fill(outside.to(values.device()), kNotSeen);
}

at::Tensor aligned_points(const at::Tensor& points, const ImagePlaces& from,
                          const ImagePlaces& to) {
  const auto rows = points.size(0);
  const auto moved_points = points.to(at::kCPU).reshape({rows, -1, 2}).contiguous().clone();
  auto* value = moved_points.mutable_data_ptr<double>();
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    const auto& seen = from.at(row);
    const auto& wanted = to.at(row);
    const auto map = projection(wanted.corners, seen.corners);
    for (std::int64_t i = 0; i < moved_points.size(1); ++i, value += 2) {
      const auto at =
          moved(map, {to_pixel(value[0], seen.row_width), to_pixel(value[1], seen.row_height)});
      value[0] = to_unit(at.x, wanted.row_width);
      value[1] = to_unit(at.y, wanted.row_height);
    }
  }
  return moved_points.reshape(points.sizes()).to(points.device());
}

std::array<double, 2> point_in_file(std::array<double, 2> point, const ImagePlace& place) {
  const auto at =
      moved(projection(place.own(), place.corners),
            {to_pixel(point[0], place.row_width), to_pixel(point[1], place.row_height)});
  return {at.x, at.y};
}

}  // namespace ddptrain
