#include "transforms/geometry/warp.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace ddptrain {
namespace {

/// A sample between pixels: sum and how much of it lay inside the image.
struct Sample {
  double sum = 0, inside = 0;
};

class Lookup {
 public:
  explicit Lookup(const Image& image) : image_(image) {}

  Sample nearest(double x, double y, int channel) const {
    return {at(std::nearbyint(x), std::nearbyint(y), channel),
            covers(std::nearbyint(x), std::nearbyint(y))};
  }
  Sample bilinear(double x, double y, int channel) const {
    const double left = std::floor(x), top = std::floor(y);
    Sample sample;
    for (int dy = 0; dy < 2; ++dy)
      for (int dx = 0; dx < 2; ++dx) {
        const double weight = (dx ? x - left : left + 1 - x) * (dy ? y - top : top + 1 - y);
        sample.sum += weight * at(left + dx, top + dy, channel);
        sample.inside += weight * covers(left + dx, top + dy);
      }
    return sample;
  }

 private:
  double covers(double x, double y) const {
    return x >= 0 && y >= 0 && x < image_.width && y < image_.height;
  }
  double at(double x, double y, int channel) const {
    if (covers(x, y) == 0) return 0;
    const std::size_t i =
        (std::size_t(y) * image_.width + std::size_t(x)) * image_.channels + channel;
    return image_.is_float() ? image_.floats[i] : image_.bytes[i];
  }
  const Image& image_;
};

/// Blends with the fill by how much lay inside, as torchvision does with a mask channel; with black
/// the sum itself fades.
double filled(Sample sample, const WarpOptions& options) {
  if (options.fill == 0) return sample.sum;
  if (options.interpolation == Interpolation::nearest)
    return sample.inside < 0.5 ? options.fill : sample.sum;
  return (sample.sum - options.fill) * sample.inside + options.fill;
}

void put(Image& image, std::size_t at, double value) {
  if (image.is_float())
    image.floats[at] = static_cast<float>(value);
  else
    image.bytes[at] = static_cast<std::uint8_t>(std::clamp(std::nearbyint(value), 0.0, 255.0));
}

void warp_targets(const Image& from, const PlaceMap& map, Image& out) {
  for (const auto& mask : from.masks) {
    const WarpOptions options{Interpolation::nearest, double(mask.border)};
    out.masks.push_back(warped(mask, map, out.width, out.height, options));
    out.masks.back().border = mask.border;
  }
  if (from.points.empty()) return;
  const auto onwards = inverse(map);
  for (const auto& point : from.points) {
    const auto place = moved(onwards, {point.x - 0.5 * from.width, point.y - 0.5 * from.height});
    out.points.push_back({place.x + 0.5 * out.width, place.y + 0.5 * out.height});
  }
}

}  // namespace

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k) c[3 * i + j] += a[3 * i + k] * b[3 * k + j];
  return c;
}

ImagePoint moved(const PlaceMap& map, ImagePoint place) {
  const auto& m = map.m;
  const ImagePoint at{m[0] * place.x + m[1] * place.y + m[2],
                      m[3] * place.x + m[4] * place.y + m[5]};
  if (m[6] == 0 && m[7] == 0) return at;
  const double scale = 1 / (m[6] * place.x + m[7] * place.y + 1);
  return {at.x * scale, at.y * scale};
}

// The adjugate of the 3 x 3 matrix, divided by its last element.
PlaceMap inverse(const PlaceMap& map) {
  const auto& m = map.m;
  const double last = m[0] * m[4] - m[1] * m[3];
  DDP_CHECK(last != 0, "a warp that brings an image onto a line has no inverse");
  return {{(m[4] - m[5] * m[7]) / last, (m[2] * m[7] - m[1]) / last,
           (m[1] * m[5] - m[2] * m[4]) / last, (m[5] * m[6] - m[3]) / last,
           (m[0] - m[2] * m[6]) / last, (m[2] * m[3] - m[0] * m[5]) / last,
           (m[3] * m[7] - m[4] * m[6]) / last, (m[1] * m[6] - m[0] * m[7]) / last}};
}

Image warped(const Image& from, const PlaceMap& map, int width, int height,
             const WarpOptions& options) {
  DDP_CHECK(options.interpolation != Interpolation::bicubic, "a warp is nearest or bilinear");
  Image out;
  out.width = width;
  out.height = height;
  out.channels = from.channels;
  from.is_float() ? out.floats.resize(out.values()) : out.bytes.resize(out.values());
  const Lookup lookup(from);
  const bool nearest = options.interpolation == Interpolation::nearest;
  const auto& m = map.m;
  std::size_t at = 0;
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) {
      const double dx = column - (width - 1) * 0.5, dy = row - (height - 1) * 0.5;
      const double scale = m[6] * dx + m[7] * dy + 1;
      const double x = (m[0] * dx + m[1] * dy + m[2]) / scale + (from.width - 1) * 0.5;
      const double y = (m[3] * dx + m[4] * dy + m[5]) / scale + (from.height - 1) * 0.5;
      for (int c = 0; c < from.channels; ++c, ++at) {
        const auto sample = nearest ? lookup.nearest(x, y, c) : lookup.bilinear(x, y, c);
        put(out, at, filled(sample, options));
      }
    }
  warp_targets(from, map, out);
  return out;
}

}  // namespace ddptrain
