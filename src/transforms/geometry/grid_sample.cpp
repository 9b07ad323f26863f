#include "transforms/geometry/grid_sample.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "transforms/geometry/resample.h"

namespace ddptrain {
namespace {

double place(int at, int size) { return size > 1 ? -1 + 2.0 * at / (size - 1) : 0; }

/// From -1 .. 1 to pixels, brought inside unless what is outside is black.
double pixel(double place, int size, PaddingMode padding) {
  const double last = size - 1;
  double at = (place + 1) / 2 * last;
  if (padding == PaddingMode::constant || (at >= 0 && at <= last)) return at;
  if (padding == PaddingMode::reflect) {
    if (last == 0) return 0;
    at = std::fmod(std::abs(at), 2 * last);
    if (at > last) at = 2 * last - at;
  }
  return std::clamp(at, 0.0, last);
}

/// Adds a share of a source pixel to an output pixel; nothing outside.
void add(const Image& from, double x, double y, double weight, float* to) {
  if (weight == 0 || x < 0 || y < 0 || x >= from.width || y >= from.height) return;
  const std::size_t at = (std::size_t(y) * from.width + std::size_t(x)) * from.channels;
  for (int c = 0; c < from.channels; ++c)
    to[c] += static_cast<float>(weight) * from.floats[at + std::size_t(c)];
}

struct Corner {
  int left = 0, top = 0;
};

/// Four pixels that are all inside.
void blend_four(const Image& from, Corner at, float right, float lower, float* to) {
  const std::size_t channels = std::size_t(from.channels);
  const std::size_t stride = std::size_t(from.width) * channels;
  const float* upper = &from.floats[std::size_t(at.top) * stride + std::size_t(at.left) * channels];
  for (std::size_t c = 0; c < channels; ++c) {
    const float* p = upper + c;
    const float above = p[0] + right * (p[channels] - p[0]);
    const float below = p[stride] + right * (p[stride + channels] - p[stride]);
    to[c] = above + lower * (below - above);
  }
}

void look_up(const Image& from, double x, double y, Interpolation interpolation, float* to) {
  if (interpolation == Interpolation::nearest)
    return add(from, std::nearbyint(x), std::nearbyint(y), 1, to);
  const double left = std::floor(x), top = std::floor(y);
  const double right_share = x - left, lower_share = y - top;
  if (left >= 0 && top >= 0 && left + 1 < from.width && top + 1 < from.height)
    return blend_four(from, {int(left), int(top)}, float(right_share), float(lower_share), to);
  add(from, left, top, (1 - right_share) * (1 - lower_share), to);
  add(from, left + 1, top, right_share * (1 - lower_share), to);
  add(from, left, top + 1, (1 - right_share) * lower_share, to);
  add(from, left + 1, top + 1, right_share * lower_share, to);
}

Image blank(const Image& like, int width, int height) {
  Image image;
  image.width = width;
  image.height = height;
  image.channels = like.channels;
  image.floats.resize(image.values());
  return image;
}

struct Range {
  int first = 0, end = 0;
};

Range covered(int at, int out, int in) {
  return {static_cast<int>(std::int64_t(at) * in / out),
          static_cast<int>((std::int64_t(at + 1) * in + out - 1) / out)};
}

/// A mask's classes as floats and back, since only floats are looked up. They count from the
/// border's: what is outside is 0.
Image sampled_mask(const Image& mask, const GridMaps& maps, int width, int height,
                   const GridOptions& options) {
  const auto border = static_cast<float>(mask.border);
  Image classes = mask;
  for (const auto byte : mask.bytes) classes.floats.push_back(static_cast<float>(byte) - border);
  classes.bytes.clear();
  Image out = grid_sample(classes, maps, width, height, options);
  for (const auto value : out.floats)
    out.bytes.push_back(static_cast<std::uint8_t>(value + border));
  out.floats.clear();
  out.border = mask.border;
  return out;
}

/// From pixels to -1 .. 1 and back, as place() and pixel() do for the middles of pixels.
double unit_place(double at, int size) { return size > 1 ? 2 * (at - 0.5) / (size - 1) - 1 : 0; }
double pixel_place(double at, int size) { return (at + 1) / 2 * (size - 1) + 0.5; }

void sample_targets(const Image& from, const GridMaps& maps, GridOptions options, Image& out) {
  options.interpolation = Interpolation::nearest;
  for (const auto& mask : from.masks)
    out.masks.push_back(sampled_mask(mask, maps, out.width, out.height, options));
  if (from.points.empty()) return;
  const auto outer = inverse(maps.outer), inner = inverse(maps.inner);
  for (const auto& point : from.points) {
    const ImagePoint unit{unit_place(point.x, from.width), unit_place(point.y, from.height)};
    const auto at = moved(inner, moved(outer, unit));
    out.points.push_back({pixel_place(at.x, out.width), pixel_place(at.y, out.height)});
  }
}

}  // namespace

Image grid_sample(const Image& from, const GridMaps& maps, int width, int height,
                  const GridOptions& options) {
  DDP_CHECK(from.is_float() && options.interpolation != Interpolation::bicubic &&
                options.padding != PaddingMode::symmetric,
            "floats, by nearest or bilinear, with black, edge or mirror around");
  Image out = blank(from, width, height);
  float* to = out.floats.data();
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column, to += out.channels) {
      const auto at =
          moved(maps.outer, moved(maps.inner, {place(column, width), place(row, height)}));
      look_up(from, pixel(at.x, from.width, options.padding),
              pixel(at.y, from.height, options.padding), options.interpolation, to);
    }
  sample_targets(from, maps, options, out);
  return out;
}

Image shrink_by_area(const Image& from, int width, int height) {
  Image out = blank(from, width, height);
  float* to = out.floats.data();
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column, to += out.channels) {
      const auto across = covered(column, width, from.width);
      const auto down = covered(row, height, from.height);
      const double share = 1.0 / ((across.end - across.first) * (down.end - down.first));
      for (int y = down.first; y < down.end; ++y)
        for (int x = across.first; x < across.end; ++x) add(from, x, y, share, to);
    }
  resample_targets(from, whole(from, width, height), out);
  return out;
}

void make_float(Image& image) {
  if (image.is_float()) return;
  image.floats.resize(image.bytes.size());
  std::transform(image.bytes.begin(), image.bytes.end(), image.floats.begin(),
                 [](std::uint8_t byte) { return static_cast<float>(byte) / 255.0F; });
  image.bytes.clear();
}

}  // namespace ddptrain
