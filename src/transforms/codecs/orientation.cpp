// EXIF's orientation: where it is written, and what it means.
#include <algorithm>

#include "transforms/codecs/codecs.h"

namespace ddptrain {
namespace {

/// A TIFF block in either byte order; reads beyond its end give 0.
struct Tiff {
  std::span<const std::uint8_t> bytes;
  bool little = false;
  std::uint32_t word(std::size_t at) const {
    if (at + 2 > bytes.size()) return 0;
    return little ? bytes[at] | bytes[at + 1] << 8 : bytes[at] << 8 | bytes[at + 1];
  }
  std::uint32_t word32(std::size_t at) const {
    return little ? word(at) | word(at + 2) << 16 : word(at) << 16 | word(at + 2);
  }
};

constexpr std::uint32_t orientation_tag = 0x0112;

}  // namespace

int exif_orientation(std::span<const std::uint8_t> tiff) {
  if (tiff.size() < 8) return 1;
  Tiff block{tiff, tiff[0] == 'I'};
  const std::size_t directory = block.word32(4);
  const std::uint32_t entries = block.word(directory);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + 12 * std::size_t(i);
    if (entry + 12 > tiff.size()) break;
    if (block.word(entry) != orientation_tag) continue;
    const int value = static_cast<int>(block.word(entry + 8));
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

void orient(Image& image, int orientation) {
  if (orientation <= 1 || orientation > 8) return;
  const bool swapped = orientation >= 5;  // rows become columns
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_bottom =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const int width = swapped ? image.height : image.width;
  const int height = swapped ? image.width : image.height;
  const int channels = image.channels;
  std::vector<std::uint8_t> rotated(image.bytes.size());
  std::uint8_t* to = rotated.data();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x, to += channels) {
      const int column = swapped ? y : x, row = swapped ? x : y;
      const int from_x = from_right ? image.width - 1 - column : column;
      const int from_y = from_bottom ? image.height - 1 - row : row;
      const std::size_t from = (std::size_t(from_y) * image.width + from_x) * channels;
      std::copy_n(image.bytes.data() + from, channels, to);
    }
  image.bytes = std::move(rotated);
  image.width = width;
  image.height = height;
}

}  // namespace ddptrain
