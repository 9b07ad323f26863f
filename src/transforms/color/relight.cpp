#include "transforms/color/relight.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/clones.h"
#include "base/error.h"
#include "transforms/color/bounds.h"

namespace ddptrain {
namespace {

#define ALWAYS_INLINE __attribute__((always_inline)) inline

// A logarithm and a power of our own: the same pixels on every machine.

/// The logarithm to base 2 of a positive, normal number, to about 1e-7: of its exponent and of its
/// fraction m between 1 / sqrt(2) and sqrt(2), whose logarithm is 2 artanh((m - 1) / (m + 1)).
ALWAYS_INLINE float log2_of(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  constexpr std::int32_t lowest = 0x3F3504F3;  // 1 / sqrt(2)
  const std::int32_t exponent = (bits - lowest) >> 23;
  const auto m = std::bit_cast<float>(bits - (exponent << 23));
  const float t = (m - 1) / (m + 1), s = t * t;
  constexpr auto scale = static_cast<float>(2 * std::numbers::log2e);
  const float series = 1 + s * (1 / 3.0F + s * (1 / 5.0F + s * (1 / 7.0F + s * (1 / 9.0F))));
  return static_cast<float>(exponent) + scale * t * series;
}

/// 2 to a power between -126 and 126, to about 1e-7: Taylor's series of e^x around 0 for the rest
/// after the nearest whole number.
ALWAYS_INLINE float exp2_of(float power) {
  const float whole = nearest_whole(power);
  const float x = (power - whole) * static_cast<float>(std::numbers::ln2);
  const float sum =
      1 +
      x * (1 + x * (1 / 2.0F +
                    x * (1 / 6.0F + x * (1 / 24.0F + x * (1 / 120.0F +
                                                          x * (1 / 720.0F + x * (1 / 5040.0F)))))));
  return sum * std::bit_cast<float>((static_cast<std::int32_t>(whole) + 127) << 23);
}

/// Odds against a pixel, clamped as in fastai, whose bounds are floats: (1 - p) / p.
ALWAYS_INLINE float odds_against(float value) {
  constexpr float least = 1e-7F, most = static_cast<float>(1 - 1e-7);
  return 1 / between(least, value, most) - 1;
}

/// The sigmoid of (logit(p) + shift) contrast: with odds against o it is 1 / (1 + (o
/// e^-shift)^contrast).
DDPTRAIN_CLONES
void relight_values(float* values, std::size_t count, float shift, float contrast) {
  const float shift2 = shift * static_cast<float>(std::numbers::log2e);
  for (std::size_t i = 0; i < count; ++i) {
    const float power = contrast * (log2_of(odds_against(values[i])) - shift2);
    values[i] = 1 / (1 + exp2_of(between(-126, power, 126)));
  }
}

float logit(float value) { return -std::log(odds_against(value)); }

/// Saturation blends a pixel's logits with their gray.
void relight_colors(Image& image, float shift, float contrast, float saturation) {
  constexpr std::array<float, 3> gray_of{0.2989F, 0.5870F, 0.1140F};
  std::array<float, 3> logits{};
  for (std::size_t at = 0; at < image.floats.size(); at += 3) {
    float gray = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      logits[c] = (logit(image.floats[at + c]) + shift) * contrast;
      gray += gray_of[c] * logits[c];
    }
    for (std::size_t c = 0; c < 3; ++c)
      image.floats[at + c] =
          1 / (1 + std::exp(-(logits[c] * saturation + gray * (1 - saturation))));
  }
}

}  // namespace

void relight(Image& image, const FastaiLight& light) {
  DDP_CHECK(image.is_float(), "light is a matter of floats");
  if (light == FastaiLight{}) return;
  const float shift = logit(static_cast<float>(light.brightness));
  const auto contrast = static_cast<float>(light.contrast);
  if (image.channels == 3 && light.saturation != 1)
    return relight_colors(image, shift, contrast, static_cast<float>(light.saturation));
  relight_values(image.floats.data(), image.floats.size(), shift, contrast);
}

}  // namespace ddptrain
