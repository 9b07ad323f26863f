#include "transforms/color/color.h"

#include <algorithm>
#include <numeric>

#include "transforms/color/byte_table.h"

namespace ddptrain {
namespace {

float gray(float red, float green, float blue) {
  return 0.2989F * red + 0.587F * green + 0.114F * blue;
}

std::uint8_t truncated(float value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
}

/// The whole number below; of values that an int holds.
float floor_of(float value) {
  const auto whole = static_cast<float>(static_cast<int>(value));
  return whole > value ? whole - 1 : whole;
}

/// Calls `change(float* pixel)` on each pixel of three channels as floats, in the image's own unit,
/// and writes the result back cut off to a byte.
template <class Change>
void on_each_color(Image& image, Change change) {
  if (image.is_float()) {
    for (std::size_t i = 0; i < image.floats.size(); i += 3) change(&image.floats[i]);
    return;
  }
  for (std::size_t i = 0; i < image.bytes.size(); i += 3) {
    std::uint8_t* bytes = &image.bytes[i];
    float pixel[3] = {float(bytes[0]), float(bytes[1]), float(bytes[2])};
    change(pixel);
    for (int c = 0; c < 3; ++c) bytes[c] = truncated(pixel[c]);
  }
}

/// The same of each value by itself.
template <class Change>
void change_values(Image& image, Change change) {
  for (auto& value : image.floats) value = change(value);
  if (!image.is_float())
    look_up(table_of([&](std::uint8_t byte) { return truncated(change(byte)); }), image.bytes);
}

float bound(const Image& image) { return image.is_float() ? 1.0F : 255.0F; }

float gray_of(const float* pixel) { return gray(pixel[0], pixel[1], pixel[2]); }

/// Of grays cut off to whole numbers.
double sum_of_grays(const std::vector<std::uint8_t>& bytes, int channels) {
  std::int64_t sum = 0;
  if (channels == 1) return static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), sum));
  for (std::size_t i = 0; i < bytes.size(); i += 3)
    sum += static_cast<int>(gray(bytes[i], bytes[i + 1], bytes[i + 2]));
  return static_cast<double>(sum);
}

double sum_of_grays(const std::vector<float>& values, int channels) {
  double sum = 0;
  if (channels == 1) return std::accumulate(values.begin(), values.end(), sum);
  for (std::size_t i = 0; i < values.size(); i += 3) sum += gray_of(&values[i]);
  return sum;
}

float mean_gray(const Image& image) {
  const double sum = image.is_float() ? sum_of_grays(image.floats, image.channels)
                                      : sum_of_grays(image.bytes, image.channels);
  const std::size_t pixels = image.values() / image.channels;
  return static_cast<float>(sum / static_cast<double>(pixels));
}

struct Hsv {
  float hue, saturation, value;
};

/// _rgb_to_hsv in torchvision.
Hsv to_hsv(const float* p) {
  const float most = std::max({p[0], p[1], p[2]}), least = std::min({p[0], p[1], p[2]});
  const float range = most - least;
  const float divisor = range == 0 ? 1 : range;
  const float red = (most - p[0]) / divisor, green = (most - p[1]) / divisor,
              blue = (most - p[2]) / divisor;
  float hue;
  if (most == p[0])
    hue = blue - green;
  else if (most == p[1])
    hue = 2 + red - blue;
  else
    hue = 4 + green - red;
  hue = hue * (1.0F / 6) + 1;
  return {hue - floor_of(hue), range / (range == 0 ? 1 : most), most};
}

/// _hsv_to_rgb in torchvision.
void to_rgb(const Hsv& hsv, float* p) {
  const float sector = floor_of(hsv.hue * 6), part = hsv.hue * 6 - sector;
  const float s = hsv.saturation, v = hsv.value;
  const float q = std::clamp((1 - s * part) * v, 0.0F, 1.0F);
  const float t = std::clamp((1 - s + s * part) * v, 0.0F, 1.0F);
  const float low = std::clamp((1 - s) * v, 0.0F, 1.0F);
  const float reds[] = {v, q, low, low, t, v}, greens[] = {t, v, v, q, low, low},
              blues[] = {low, low, t, v, v, q};
  const int i = ((static_cast<int>(sector) % 6) + 6) % 6;
  p[0] = reds[i];
  p[1] = greens[i];
  p[2] = blues[i];
}

void turn_hue(float* pixel, float shift) {
  Hsv hsv = to_hsv(pixel);
  hsv.hue += shift;
  hsv.hue -= floor_of(hsv.hue);
  to_rgb(hsv, pixel);
}

}  // namespace

void adjust_brightness(Image& image, double factor) {
  const float by = static_cast<float>(factor), most = bound(image);
  change_values(image, [=](float value) { return std::clamp(value * by, 0.0F, most); });
}

void adjust_contrast(Image& image, double factor) {
  const float by = static_cast<float>(factor), most = bound(image);
  const float added = static_cast<float>(1 - factor) * mean_gray(image);
  change_values(image, [=](float value) { return std::clamp(value * by + added, 0.0F, most); });
}

void adjust_saturation(Image& image, double factor) {
  if (image.channels == 1) return;
  const float by = static_cast<float>(factor), rest = static_cast<float>(1 - factor);
  const float most = bound(image);
  const bool whole = !image.is_float();  // the gray of bytes is cut off to a whole number
  on_each_color(image, [=](float* pixel) {
    const float value = gray_of(pixel);
    const float added = rest * (whole ? static_cast<float>(static_cast<int>(value)) : value);
    for (int c = 0; c < 3; ++c) pixel[c] = std::clamp(pixel[c] * by + added, 0.0F, most);
  });
}

void adjust_hue(Image& image, double shift) {
  if (image.channels == 1 || shift == 0) return;
  const float by = static_cast<float>(shift);
  if (image.is_float()) return on_each_color(image, [&](float* pixel) { turn_hue(pixel, by); });
  on_each_color(image, [&](float* pixel) {
    for (int c = 0; c < 3; ++c) pixel[c] /= 255;
    turn_hue(pixel, by);
    for (int c = 0; c < 3; ++c) pixel[c] *= 255.999F;  // as to_dtype(uint8, scale=True)
  });
}

void to_gray(Image& image, int channels) {
  Image out;
  out.width = image.width;
  out.height = image.height;
  out.channels = channels;
  const auto convert = [&](const auto& from, auto& to) {
    using T = typename std::remove_reference_t<decltype(to)>::value_type;
    to.resize(out.values());
    auto* into = to.data();
    for (std::size_t i = 0; i < from.size(); i += image.channels) {
      const T value =
          image.channels == 3 ? static_cast<T>(gray(from[i], from[i + 1], from[i + 2])) : from[i];
      for (int c = 0; c < channels; ++c) *into++ = value;
    }
  };
  image.is_float() ? convert(image.floats, out.floats) : convert(image.bytes, out.bytes);
  out.masks = std::move(image.masks);
  out.points = std::move(image.points);
  image = std::move(out);
}

}  // namespace ddptrain
