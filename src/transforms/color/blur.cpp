// Blurs, whose rows are weighted sums of rows: gaussian_blur, and the softened image of
// adjust_sharpness.
#include <algorithm>
#include <cmath>

#include "base/clones.h"
#include "base/error.h"
#include "transforms/color/bounds.h"
#include "transforms/color/color.h"

namespace ddptrain {
namespace {

/// `Count` values of add_rows, or `count` of them, whose sums stay in registers.
template <std::size_t Count>
[[gnu::always_inline]] inline void add_block(const std::vector<const float*>& rows,
                                             const std::vector<float>& weights, std::size_t at,
                                             std::size_t count, float* to) {
  const std::size_t n = Count ? Count : count;
  float sums[64] = {};
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const float* row = rows[k] + at;
    const float weight = weights[k];
    for (std::size_t j = 0; j < n; ++j) sums[j] += weight * row[j];
  }
  for (std::size_t j = 0; j < n; ++j) to[at + j] = sums[j];
}

/// to[i] = the sum of weights[k] * rows[k][i], from the first row on.
DDPTRAIN_CLONES
void add_rows(const std::vector<const float*>& rows, const std::vector<float>& weights,
              std::size_t n, float* to) {
  std::size_t at = 0;
  for (; at + 64 <= n; at += 64) add_block<64>(rows, weights, at, 64, to);
  add_block<0>(rows, weights, at, n - at, to);
}

DDPTRAIN_CLONES
void round_to_bytes(const float* from, std::size_t n, std::uint8_t* to) {
  for (std::size_t i = 0; i < n; ++i)
    to[i] = static_cast<std::uint8_t>(static_cast<int>(between(0, nearest_whole(from[i]), 255)));
}

/// A row with its neighbors, in the image's own unit.
struct Neighborhood {
  const float *above, *here, *below;
  std::size_t across;  // values of a pixel
};

/// torchvision's adjust_sharpness where a pixel is not at an edge; `whole` softened values are
/// those of bytes.
DDPTRAIN_CLONES
void sharpen_row(const Neighborhood& rows, std::size_t n, float away, bool whole, float* to) {
  const float* above = rows.above;
  const float* here = rows.here;
  const float* below = rows.below;
  const std::size_t across = rows.across;
  constexpr float middle = 5.0F / 13, other = 1.0F / 13;
  const float bound = whole ? 255.0F : 1.0F;
  for (std::size_t i = across; i < n - across; ++i) {
    float soft = above[i - across] * other;
    soft += above[i] * other;
    soft += above[i + across] * other;
    soft += here[i - across] * other;
    soft += here[i] * middle;
    soft += here[i + across] * other;
    soft += below[i - across] * other;
    soft += below[i] * other;
    soft += below[i + across] * other;
    soft = whole ? nearest_whole(soft) : soft;
    to[i] = between(0, here[i] + away * (soft - here[i]), bound);
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

std::vector<float> blurred_across(const std::vector<float>& from, const Image& image,
                                  const std::vector<float>& kernel) {
  const std::size_t channels = image.channels, stride = channels * image.width;
  const int reach = static_cast<int>(kernel.size() / 2);
  std::vector<float> out(from.size()), line(stride + 2 * channels * reach);
  std::vector<const float*> shifted;
  for (std::size_t k = 0; k < kernel.size(); ++k) shifted.push_back(&line[k * channels]);
  for (std::size_t row = 0; row < from.size(); row += stride) {
    float* to = line.data();
    for (int x = -reach; x < image.width + reach; ++x, to += channels)
      std::copy_n(&from[row + mirrored(x, image.width) * channels], channels, to);
    add_rows(shifted, kernel, stride, &out[row]);
  }
  return out;
}

std::vector<float> blurred_down(const std::vector<float>& from, const Image& image,
                                const std::vector<float>& kernel) {
  const std::size_t stride = std::size_t(image.channels) * image.width;
  const int reach = static_cast<int>(kernel.size() / 2);
  std::vector<float> out(from.size());
  std::vector<const float*> rows(kernel.size());
  for (int y = 0; y < image.height; ++y) {
    for (std::size_t k = 0; k < kernel.size(); ++k)
      rows[k] = &from[mirrored(y + static_cast<int>(k) - reach, image.height) * stride];
    add_rows(rows, kernel, stride, &out[y * stride]);
  }
  return out;
}

}  // namespace

void adjust_sharpness(Image& image, double factor) {
  if (image.width <= 2 || image.height <= 2) return;
  const auto values = as_floats(image);
  const std::size_t across = image.channels, down = across * image.width;
  const auto away = static_cast<float>(1 - factor);
  std::vector<float> sharpened(down);
  for (int y = 1; y + 1 < image.height; ++y) {
    const float* here = &values[y * down];
    sharpen_row({here - down, here, here + down, across}, down, away, !image.is_float(),
                sharpened.data());
    if (image.is_float())
      std::copy(sharpened.begin() + across, sharpened.end() - across,
                image.floats.begin() + y * down + across);
    else
      for (std::size_t i = across; i < down - across; ++i)
        image.bytes[y * down + i] = static_cast<std::uint8_t>(static_cast<int>(sharpened[i]));
  }
}

void gaussian_blur(Image& image, int kernel, double sigma) {
  DDP_CHECK(kernel % 2 == 1, "gaussian_blur wants an odd number of pixels");
  if (kernel / 2 >= std::min(image.width, image.height))
    throw Error(Exit::recipe, Option{"data.transforms"},
                "gaussian_blur: a kernel of {} pixels is too large for an image of {} x {}", kernel,
                image.width, image.height);
  const auto weights = gaussian(kernel, sigma);
  auto out = blurred_down(blurred_across(as_floats(image), image, weights), image, weights);
  if (image.is_float())
    image.floats = std::move(out);
  else
    round_to_bytes(out.data(), out.size(), image.bytes.data());
}

}  // namespace ddptrain
