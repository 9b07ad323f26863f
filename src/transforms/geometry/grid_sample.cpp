#include "transforms/geometry/grid_sample.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "transforms/geometry/grid_kernels.h"
#include "transforms/geometry/resample.h"

namespace ddptrain {
namespace {

using kernels::Pixels;

/// Calls `body` with the image's bytes or floats.
template <class Body>
auto with_pixels(const Image& image, Body&& body) {
  const auto pixels = [&](const auto& values) {
    return Pixels{values.data(), image.width, image.height, image.channels};
  };
  return image.is_float() ? body(pixels(image.floats)) : body(pixels(image.bytes));
}

float unit(float value) { return value; }
float unit(std::uint8_t byte) { return static_cast<float>(byte) / 255.0F; }

/// From -1 .. 1 to the pixels of an image of this size, and back.
Matrix pixels_of_places(int width, int height) {
  const double across = (width - 1) / 2.0, down = (height - 1) / 2.0;
  return {across, 0, across, 0, down, down, 0, 0, 1};
}
Matrix places_of_pixels(int width, int height) {
  const double across = width > 1 ? 2.0 / (width - 1) : 0;
  const double down = height > 1 ? 2.0 / (height - 1) : 0;
  return {across, 0, width > 1 ? -1.0 : 0, 0, down, height > 1 ? -1.0 : 0, 0, 0, 1};
}

Matrix matrix_of(const PlaceMap& map) {
  const auto& m = map.m;
  return {m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], 1};
}

/// Adds a share of a source pixel to an output pixel; nothing outside.
template <class Value>
void add(const Pixels<Value>& from, double x, double y, double weight, float* to) {
  if (!(weight != 0 && x >= 0 && y >= 0 && x < from.width && y < from.height)) return;
  const std::size_t at = (std::size_t(y) * from.width + std::size_t(x)) * from.channels;
  for (int c = 0; c < from.channels; ++c)
    to[c] += static_cast<float>(weight) * unit(from.values[at + std::size_t(c)]);
}

/// Where nothing is around the image.
template <class Value>
void blend_into_black(const Pixels<Value>& from, double x, double y, float* to) {
  const double left = std::floor(x), top = std::floor(y);
  const double right_share = x - left, lower_share = y - top;
  add(from, left, top, (1 - right_share) * (1 - lower_share), to);
  add(from, left + 1, top, right_share * (1 - lower_share), to);
  add(from, left, top + 1, (1 - right_share) * lower_share, to);
  add(from, left + 1, top + 1, right_share * lower_share, to);
}

/// The places that one output row is looked up at.
class Row {
 public:
  Row(const Image& from, const GridMaps& maps, int width, int height, const GridOptions& options)
      : from_(from), options_(options), x_(std::size_t(width)), y_(std::size_t(width)) {
    const Matrix places = product(matrix_of(maps.outer), matrix_of(maps.inner));
    map_ = product(pixels_of_places(from.width, from.height),
                   product(places, places_of_pixels(width, height)));
  }

  void move_to(int row) {
    const int count = static_cast<int>(x_.size());
    kernels::places_of_row(map_, row, count, x_.data(), y_.data());
    const auto bring_inside =
        options_.padding == PaddingMode::reflect ? kernels::mirror_places : kernels::clamp_places;
    if (options_.padding == PaddingMode::constant) return;
    bring_inside(x_.data(), count, from_.width);
    bring_inside(y_.data(), count, from_.height);
  }

  void look_up(float* to) const {
    with_pixels(from_, [&](const auto& pixels) {
      const bool nearest = options_.interpolation == Interpolation::nearest;
      if (!nearest && options_.padding != PaddingMode::constant)
        return kernels::blend_row(pixels, x_.data(), y_.data(), static_cast<int>(x_.size()), to);
      for (std::size_t i = 0; i < x_.size(); ++i, to += from_.channels)
        if (nearest)
          add(pixels, std::nearbyint(x_[i]), std::nearbyint(y_[i]), 1, to);
        else
          blend_into_black(pixels, x_[i], y_[i], to);
    });
  }

  /// Of a mask of the source's size, by nearest; what is outside is its border.
  void look_up_classes(const Image& mask, std::uint8_t* to) const {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const double x = std::nearbyint(x_[i]), y = std::nearbyint(y_[i]);
      const bool inside = x >= 0 && y >= 0 && x < mask.width && y < mask.height;
      to[i] = inside ? mask.bytes[std::size_t(y) * mask.width + std::size_t(x)] : mask.border;
    }
  }

 private:
  const Image& from_;
  GridOptions options_;
  Matrix map_;
  std::vector<double> x_, y_;
};

Image blank(const Image& like, int width, int height) {
  Image image;
  image.width = width;
  image.height = height;
  image.channels = like.channels;
  image.floats.resize(image.values());
  return image;
}

Image blank_mask(const Image& like, int width, int height) {
  Image mask;
  mask.width = width;
  mask.height = height;
  mask.channels = 1;
  mask.border = like.border;
  mask.bytes.resize(mask.values());
  return mask;
}

struct Range {
  int first = 0, end = 0;
};

Range covered(int at, int out, int in) {
  return {static_cast<int>(std::int64_t(at) * in / out),
          static_cast<int>((std::int64_t(at + 1) * in + out - 1) / out)};
}

/// From pixels to -1 .. 1 and back, where a pixel's middle is half a pixel from its edge.
double unit_place(double at, int size) { return size > 1 ? 2 * (at - 0.5) / (size - 1) - 1 : 0; }
double pixel_place(double at, int size) { return (at + 1) / 2 * (size - 1) + 0.5; }

void move_points(const Image& from, const GridMaps& maps, Image& out) {
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
  DDP_CHECK(
      options.interpolation != Interpolation::bicubic && options.padding != PaddingMode::symmetric,
      "by nearest or bilinear, with black, edge or mirror around");
  Image out = blank(from, width, height);
  for (const auto& mask : from.masks) out.masks.push_back(blank_mask(mask, width, height));
  Row places(from, maps, width, height, options);
  for (int row = 0; row < height; ++row) {
    const std::size_t first = std::size_t(row) * width;
    places.move_to(row);
    places.look_up(&out.floats[first * out.channels]);
    for (std::size_t i = 0; i < from.masks.size(); ++i)
      places.look_up_classes(from.masks[i], &out.masks[i].bytes[first]);
  }
  move_points(from, maps, out);
  return out;
}

Image shrink_by_area(const Image& from, int width, int height) {
  Image out = blank(from, width, height);
  with_pixels(from, [&](const auto& pixels) {
    float* to = out.floats.data();
    for (int row = 0; row < height; ++row)
      for (int column = 0; column < width; ++column, to += out.channels) {
        const auto across = covered(column, width, from.width);
        const auto down = covered(row, height, from.height);
        const double share = 1.0 / ((across.end - across.first) * (down.end - down.first));
        for (int y = down.first; y < down.end; ++y)
          for (int x = across.first; x < across.end; ++x) add(pixels, x, y, share, to);
      }
  });
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
