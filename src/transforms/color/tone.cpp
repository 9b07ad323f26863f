#include "transforms/color/color.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "transforms/color/byte_table.h"

namespace ddptrain {
namespace {

template <class OnByte, class OnFloat>
void each_value(Image& image, OnByte on_byte, OnFloat on_float) {
  if (!image.is_float()) look_up(table_of(on_byte), image.bytes);
  for (auto& value : image.floats) value = on_float(value);
}

/// Pillow's ImageOps.equalize of one channel; the identity where there is too little to spread.
ByteTable equalizing(const std::array<std::int64_t, 256>& histogram) {
  std::int64_t pixels = 0;
  std::int64_t last = 0;
  for (const auto count : histogram) {
    pixels += count;
    if (count > 0) last = count;
  }
  const std::int64_t step = (pixels - last) / 255;
  ByteTable table;
  std::int64_t sum = step / 2;
  for (std::size_t i = 0; i < 256; ++i) {
    table[i] = static_cast<std::uint8_t>(step == 0 ? i : std::min<std::int64_t>(255, sum / step));
    sum += histogram[i];
  }
  return table;
}

void equalize_bytes(std::vector<std::uint8_t>& bytes, std::size_t channels) {
  for (std::size_t c = 0; c < channels; ++c) {
    std::array<std::int64_t, 256> histogram{};
    for (std::size_t i = c; i < bytes.size(); i += channels) ++histogram[bytes[i]];
    const auto table = equalizing(histogram);
    for (std::size_t i = c; i < bytes.size(); i += channels) bytes[i] = table[bytes[i]];
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

}  // namespace ddptrain
