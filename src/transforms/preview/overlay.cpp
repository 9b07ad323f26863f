#include "transforms/preview/overlay.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "transforms/codecs/mask_colors.h"

namespace ddptrain {
namespace {

constexpr MaskColor kDark{0, 0, 0}, kBright{255, 230, 0};

void make_colored(Image& image) {
  if (image.channels == 3) return;
  std::vector<std::uint8_t> colored;
  for (std::size_t i = 0; i < image.bytes.size(); i += std::size_t(image.channels))
    colored.insert(colored.end(), 3, image.bytes[i]);
  image.bytes = std::move(colored);
  image.channels = 3;
}

/// A plus whose arms have this length and width, in pixels.
struct Plus {
  int arm, half_width;
};

void draw_plus(Image& image, int x, int y, const Plus& plus, const MaskColor& color) {
  for (int dy = -plus.arm; dy <= plus.arm; ++dy)
    for (int dx = -plus.arm; dx <= plus.arm; ++dx) {
      if (std::min(std::abs(dx), std::abs(dy)) > plus.half_width) continue;
      const int column = x + dx, row = y + dy;
      if (column < 0 || row < 0 || column >= image.width || row >= image.height) continue;
      std::copy(color.begin(), color.end(),
                image.bytes.begin() + 3 * (std::ptrdiff_t(row) * image.width + column));
    }
}

}  // namespace

void draw_mask(Image& image, const Image& mask) {
  DDP_CHECK(mask.width == image.width && mask.height == image.height, "a mask of this image");
  make_colored(image);
  for (std::size_t i = 0; i < mask.bytes.size(); ++i) {
    if (mask.bytes[i] == 0) continue;
    const auto color = mask_color(mask.bytes[i]);
    for (std::size_t c = 0; c < 3; ++c) {
      auto& value = image.bytes[3 * i + c];
      value = static_cast<std::uint8_t>((value + color[c] + 1) / 2);
    }
  }
}

void draw_points(Image& image, const std::vector<ImagePoint>& points) {
  make_colored(image);
  const int arm = 2 + std::min(image.width, image.height) / 40;
  for (const auto& point : points) {
    const bool inside =
        point.x >= 0 && point.y >= 0 && point.x < image.width && point.y < image.height;
    if (!inside) continue;  // also one that is missing
    const int x = static_cast<int>(point.x), y = static_cast<int>(point.y);
    draw_plus(image, x, y, {arm + 1, 1 + arm / 6}, kDark);
    draw_plus(image, x, y, {arm, arm / 6}, kBright);
  }
}

}  // namespace ddptrain
