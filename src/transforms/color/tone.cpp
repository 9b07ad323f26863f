#include "transforms/color/color.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"

namespace ddptrain {
namespace {

std::uint8_t rounded(float value) {
  return static_cast<std::uint8_t>(std::clamp(std::nearbyint(value), 0.0F, 255.0F));
}

template <class OnByte, class OnFloat>
void each_value(Image& image, OnByte on_byte, OnFloat on_float) {
  for (auto& value : image.bytes) value = on_byte(value);
  for (auto& value : image.floats) value = on_float(value);
}

using Lut = std::array<std::uint8_t, 256>;

/// Pillow's ImageOps.equalize of one channel; the identity where there is too little to spread.
Lut equalizing(const std::array<std::int64_t, 256>& histogram) {
  std::int64_t pixels = 0;
  std::int64_t last = 0;
  for (const auto count : histogram) {
    pixels += count;
    if (count > 0) last = count;
  }
  const std::int64_t step = (pixels - last) / 255;
  Lut lut;
  std::int64_t sum = step / 2;
  for (std::size_t i = 0; i < 256; ++i) {
    lut[i] = static_cast<std::uint8_t>(step == 0 ? i : std::min<std::int64_t>(255, sum / step));
    sum += histogram[i];
  }
  return lut;
}

void equalize_bytes(std::vector<std::uint8_t>& bytes, std::size_t channels) {
  for (std::size_t c = 0; c < channels; ++c) {
    std::array<std::int64_t, 256> histogram{};
    for (std::size_t i = c; i < bytes.size(); i += channels) ++histogram[bytes[i]];
    const auto lut = equalizing(histogram);
    for (std::size_t i = c; i < bytes.size(); i += channels) bytes[i] = lut[bytes[i]];
  }
}

template <class T>
void stretch(std::vector<T>& values, std::size_t channels, float bound) {
  for (std::size_t c = 0; c < channels; ++c) {
    T least = values[c], most = values[c];
    for (std::size_t i = c; i < values.size(); i += channels) {
      least = std::min(least, values[i]);
      most = std::max(most, values[i]);
    }
    if (least == most) continue;
    const float scale = (static_cast<float>(most) - static_cast<float>(least)) * (1 / bound);
    for (std::size_t i = c; i < values.size(); i += channels) {
      const float moved = (static_cast<float>(values[i]) - static_cast<float>(least)) / scale;
      values[i] = static_cast<T>(std::clamp(moved, 0.0F, bound));
    }
  }
}

/// All values as floats in the image's own unit.
std::vector<float> as_floats(const Image& image) {
  if (image.is_float()) return image.floats;
  return {image.bytes.begin(), image.bytes.end()};
}

/// A place mirrored at the edges without repeating them.
int mirrored(int at, int size) {
  if (at < 0) at = -at;
  return at >= size ? 2 * (size - 1) - at : at;
}

/// Along x or y.
std::vector<float> blurred(const std::vector<float>& from, const Image& image,
                           const std::vector<float>& kernel, bool along_x) {
  const int reach = static_cast<int>(kernel.size() / 2);
  std::vector<float> out(from.size());
  std::size_t at = 0;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      for (int c = 0; c < image.channels; ++c, ++at) {
        float sum = 0;
        for (std::size_t k = 0; k < kernel.size(); ++k) {
          const int shift = static_cast<int>(k) - reach;
          const int from_x = along_x ? mirrored(x + shift, image.width) : x;
          const int from_y = along_x ? y : mirrored(y + shift, image.height);
          const auto i = (std::size_t(from_y) * image.width + from_x) * image.channels + c;
          sum += kernel[k] * from[i];
        }
        out[at] = sum;
      }
  return out;
}

std::vector<float> gaussian(int size, double sigma) {
  std::vector<float> kernel;
  double sum = 0;
  for (int i = 0; i < size; ++i) {
    const double x = (i - (size - 1) / 2.0) / sigma;
    kernel.push_back(static_cast<float>(std::exp(-x * x / 2)));
    sum += kernel.back();
  }
  for (auto& value : kernel) value = static_cast<float>(value / sum);
  return kernel;
}

/// torchvision's blur of adjust_sharpness at a pixel that is not at an edge.
float softened(const std::vector<float>& values, std::size_t at, std::size_t across,
               std::size_t down) {
  float sum = 0;
  for (const auto row : {at - down, at, at + down})
    for (const auto place : {row - across, row, row + across})
      sum += values[place] * (place == at ? 5.0F / 13 : 1.0F / 13);
  return sum;
}

}  // namespace

void invert(Image& image) {
  each_value(
      image, [](std::uint8_t v) { return static_cast<std::uint8_t>(255 - v); },
      [](float v) { return 1 - v; });
}

void posterize(Image& image, int bits) {
  DDP_CHECK(bits >= 0 && bits <= 8, "posterize keeps 0 to 8 bits");
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - bits));
  const auto levels = static_cast<float>(1 << bits);
  each_value(
      image, [mask](std::uint8_t v) { return static_cast<std::uint8_t>(v & mask); },
      [levels](float v) { return std::clamp(std::floor(v * levels), 0.0F, levels - 1) / levels; });
}

void solarize(Image& image, double threshold) {
  const auto byte_threshold = static_cast<float>(threshold * 255);  // torch compares in float32
  const auto float_threshold = static_cast<float>(threshold);
  each_value(
      image,
      [=](std::uint8_t v) { return static_cast<std::uint8_t>(v >= byte_threshold ? 255 - v : v); },
      [=](float v) { return v >= float_threshold ? 1 - v : v; });
}

void autocontrast(Image& image) {
  const auto channels = static_cast<std::size_t>(image.channels);
  image.is_float() ? stretch(image.floats, channels, 1) : stretch(image.bytes, channels, 255);
}

void equalize(Image& image) {
  const auto channels = static_cast<std::size_t>(image.channels);
  if (!image.is_float()) return equalize_bytes(image.bytes, channels);
  std::vector<std::uint8_t> bytes;
  for (const float value : image.floats)
    bytes.push_back(static_cast<std::uint8_t>(std::clamp(value * 255.999F, 0.0F, 255.0F)));
  equalize_bytes(bytes, channels);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    image.floats[i] = static_cast<float>(bytes[i]) / 255;
}

void adjust_gamma(Image& image, double gamma) {
  const auto power = static_cast<float>(gamma);
  const auto curve = [power](float v) { return std::clamp(std::pow(v, power), 0.0F, 1.0F); };
  each_value(
      image,
      [&](std::uint8_t v) {
        return static_cast<std::uint8_t>(curve(static_cast<float>(v) / 255) * 255.999F);
      },
      curve);
}

void adjust_sharpness(Image& image, double factor) {
  if (image.width <= 2 || image.height <= 2) return;
  const auto values = as_floats(image);
  const auto across = static_cast<std::size_t>(image.channels);
  const auto down = across * static_cast<std::size_t>(image.width);
  const float bound = image.is_float() ? 1.0F : 255.0F;
  const auto away = static_cast<float>(1 - factor);
  for (int y = 1; y + 1 < image.height; ++y)
    for (std::size_t i = across; i < down - across; ++i) {
      const auto at = static_cast<std::size_t>(y) * down + i;
      float soft = softened(values, at, across, down);
      if (!image.is_float()) soft = std::nearbyint(soft);
      const float value = std::clamp(values[at] + away * (soft - values[at]), 0.0F, bound);
      if (image.is_float())
        image.floats[at] = value;
      else
        image.bytes[at] = static_cast<std::uint8_t>(value);
    }
}

void gaussian_blur(Image& image, int kernel, double sigma) {
  DDP_CHECK(kernel % 2 == 1, "gaussian_blur wants an odd number of pixels");
  if (kernel / 2 >= std::min(image.width, image.height))
    throw Error(Exit::recipe, Option{"data.transforms"},
                "gaussian_blur: a kernel of {} pixels is too large for an image of {} x {}", kernel,
                image.width, image.height);
  const auto weights = gaussian(kernel, sigma);
  const auto out = blurred(blurred(as_floats(image), image, weights, true), image, weights, false);
  if (image.is_float())
    image.floats = out;
  else
    std::transform(out.begin(), out.end(), image.bytes.begin(), rounded);
}

}  // namespace ddptrain
