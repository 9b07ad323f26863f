#include "transforms/rotate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "transforms/geometry.h"

namespace ddptrain {
namespace {

/// From a place in the output to one in the source, both relative to their centres.
struct Turn {
  double cosine, sine;
  double x(double at_x, double at_y) const { return cosine * at_x - sine * at_y; }
  double y(double at_x, double at_y) const { return sine * at_x + cosine * at_y; }
};

/// How long a side gets whose half is `half` and whose corners reach `reach` from the centre:
/// _compute_affine_output_size in torchvision.
int grown(double half, double reach) {
  const double tolerance = 1e-4;  // so that 90 degrees does not gain a pixel
  const double most = std::ceil(std::trunc((half + reach) / tolerance) * tolerance);
  const double least = std::floor(std::trunc((half - reach) / tolerance) * tolerance);
  return static_cast<int>(most - least);
}

/// A sample between pixels: sum and how much of it lay inside the picture.
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
double filled(Sample sample, const Rotation& rotation) {
  if (rotation.fill == 0) return sample.sum;
  if (rotation.interpolation == Interpolation::nearest)
    return sample.inside < 0.5 ? rotation.fill : sample.sum;
  return (sample.sum - rotation.fill) * sample.inside + rotation.fill;
}

void put(Image& image, std::size_t at, double value) {
  if (image.is_float())
    image.floats[at] = static_cast<float>(value);
  else
    image.bytes[at] = static_cast<std::uint8_t>(std::clamp(std::nearbyint(value), 0.0, 255.0));
}

Image turned(const Image& from, const Turn& turn, int width, int height, const Rotation& rotation) {
  Image out;
  out.width = width;
  out.height = height;
  out.channels = from.channels;
  from.is_float() ? out.floats.resize(out.values()) : out.bytes.resize(out.values());
  const Lookup lookup(from);
  std::size_t at = 0;
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) {
      const double dx = column - (width - 1) * 0.5, dy = row - (height - 1) * 0.5;
      const double x = turn.x(dx, dy) + (from.width - 1) * 0.5;
      const double y = turn.y(dx, dy) + (from.height - 1) * 0.5;
      for (int c = 0; c < from.channels; ++c, ++at) {
        const bool nearest = rotation.interpolation == Interpolation::nearest;
        const auto sample = nearest ? lookup.nearest(x, y, c) : lookup.bilinear(x, y, c);
        put(out, at, filled(sample, rotation));
      }
    }
  return out;
}

}  // namespace

void rotate(Image& image, const Rotation& rotation) {
  DDP_CHECK(rotation.interpolation != Interpolation::bicubic, "rotation is nearest or bilinear");
  const double degrees = rotation.degrees - 360 * std::floor(rotation.degrees / 360);
  if (degrees == 0) return;
  if (degrees == 180) {
    flip_horizontally(image);
    return flip_vertically(image);
  }
  const double radians = degrees * std::numbers::pi / 180;
  Turn turn{std::cos(radians), std::sin(radians)};
  if (degrees == 90) turn = {0, 1};
  if (degrees == 270) turn = {0, -1};
  int width = image.width, height = image.height;
  if (rotation.expand) {
    const double half_x = 0.5 * image.width, half_y = 0.5 * image.height;
    width = grown(half_x, std::abs(turn.cosine) * half_x + std::abs(turn.sine) * half_y);
    height = grown(half_y, std::abs(turn.sine) * half_x + std::abs(turn.cosine) * half_y);
  }
  image = turned(image, turn, width, height, rotation);
}

}  // namespace ddptrain
