#include "transforms/codecs/write.h"

#include <algorithm>

#include "base/clones.h"

namespace ddptrain {
namespace {

template <class T>
[[gnu::always_inline]] inline void split_pixels(const T* __restrict pixels, std::size_t count,
                                                const ChannelScale& scale, float* __restrict out) {
  const float fr = scale.factor[0], fg = scale.factor[1], fb = scale.factor[2];
  const float r = scale.offset[0], g = scale.offset[1], b = scale.offset[2];
  float* __restrict green = out + count;
  float* __restrict blue = out + 2 * count;
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = float(pixels[3 * i]) * fr + r;
    green[i] = float(pixels[3 * i + 1]) * fg + g;
    blue[i] = float(pixels[3 * i + 2]) * fb + b;
  }
}

template <class T>
[[gnu::always_inline]] inline void scale_pixels(const T* __restrict pixels, std::size_t count,
                                                const ChannelScale& scale, float* __restrict out) {
  const float fr = scale.factor[0], fg = scale.factor[1], fb = scale.factor[2];
  const float r = scale.offset[0], g = scale.offset[1], b = scale.offset[2];
  for (std::size_t i = 0; i < count; ++i) {
    out[3 * i] = float(pixels[3 * i]) * fr + r;
    out[3 * i + 1] = float(pixels[3 * i + 1]) * fg + g;
    out[3 * i + 2] = float(pixels[3 * i + 2]) * fb + b;
  }
}

template <class T>
[[gnu::always_inline]] inline void scale_grays(const T* __restrict pixels, std::size_t count,
                                               const ChannelScale& scale, float* __restrict out) {
  for (std::size_t i = 0; i < count; ++i)
    out[i] = float(pixels[i]) * scale.factor[0] + scale.offset[0];
}

template <class T>
[[gnu::always_inline]] inline void write_all(const T* pixels, const Image& image,
                                             const ChannelScale& scale, PixelOrder order,
                                             float* out) {
  const std::size_t count = std::size_t(image.width) * image.height;
  if (image.channels == 1) return scale_grays(pixels, count, scale, out);
  if (order == PixelOrder::chw) return split_pixels(pixels, count, scale, out);
  scale_pixels(pixels, count, scale, out);
}

DDPTRAIN_CLONES
void write_scaled_bytes(const Image& image, const ChannelScale& scale, PixelOrder order,
                        float* out) {
  write_all(image.bytes.data(), image, scale, order, out);
}

DDPTRAIN_CLONES
void write_floats(const Image& image, const ChannelScale& scale, PixelOrder order, float* out) {
  write_all(image.floats.data(), image, scale, order, out);
}

}  // namespace

void write_pixels(const Image& image, const ChannelScale& scale, PixelOrder order, float* out) {
  if (image.is_float())
    write_floats(image, scale, order, out);
  else
    write_scaled_bytes(image, scale, order, out);
}

void write_bytes(const Image& image, PixelOrder order, std::uint8_t* out) {
  const std::size_t channels = image.channels, pixels = image.values() / channels;
  if (order == PixelOrder::hwc || channels == 1) {
    std::copy(image.bytes.begin(), image.bytes.end(), out);
    return;
  }
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t i = 0; i < pixels; ++i) out[c * pixels + i] = image.bytes[i * channels + c];
}

ChannelScale unit_scale(const Image& image) {
  ChannelScale scale;
  if (!image.is_float()) scale.factor.fill(1.0F / 255);
  return scale;
}

}  // namespace ddptrain
