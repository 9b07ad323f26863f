#include "transforms/preview/contact_sheet.h"

#include <algorithm>
#include <cmath>

#include "transforms/preview/glyphs.h"

namespace ddptrain {
namespace {

constexpr int kGap = 8;          // around every cell
constexpr int kSmallest = 128;   // images below it are enlarged
constexpr int kLetterScale = 2;  // pixels of a glyph's pixel
constexpr int kLetterWidth = kLetterScale * (kGlyphWidth + 1);
constexpr int kLetterHeight = kLetterScale * (kGlyphHeight + 1);  // with tails below the line
constexpr std::uint8_t kInk = 32;

Image white(int width, int height) {
  Image image{width, height, 3, {}, {}};
  image.bytes.assign(image.values(), 255);
  return image;
}

std::uint8_t* pixel(Image& image, int x, int y) {
  return image.bytes.data() + 3 * (std::size_t(y) * image.width + x);
}

void draw_image(Image& sheet, const Image& image, int scale, int left, int top) {
  const auto channels = static_cast<std::size_t>(image.channels);
  for (int y = 0; y < image.height * scale; ++y)
    for (int x = 0; x < image.width * scale; ++x) {
      const auto from = (std::size_t(y / scale) * image.width + x / scale) * channels;
      auto* to = pixel(sheet, left + x, top + y);
      for (std::size_t c = 0; c < 3; ++c) to[c] = image.bytes[from + (channels == 3 ? c : 0)];
    }
}

void draw_letter(Image& sheet, char letter, int left, int top) {
  const auto& columns = glyph(letter);
  for (int x = 0; x < kGlyphWidth * kLetterScale; ++x)
    for (int y = 0; y < kLetterHeight; ++y) {
      const auto column = columns[static_cast<std::size_t>(x / kLetterScale)];
      if ((column >> (y / kLetterScale) & 1) != 0)
        std::fill_n(pixel(sheet, left + x, top + y), 3, kInk);
    }
}

/// What of a caption fits into a width; ".." stands for the rest. Of characters that take several
/// bytes the first stays, to be drawn as '?'.
std::string fitting(std::string caption, int width) {
  std::erase_if(caption, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; });
  const auto most = static_cast<std::size_t>(std::max(0, width / kLetterWidth));
  if (caption.size() <= most) return caption;
  return most < 3 ? caption.substr(0, most) : caption.substr(0, most - 2) + "..";
}

}  // namespace

Image contact_sheet(const std::vector<Captioned>& images) {
  int width = 1, height = 1;
  for (const auto& [image, caption] : images) {
    width = std::max(width, image.width);
    height = std::max(height, image.height);
  }
  const int scale = std::max(1, kSmallest / std::min(width, height));
  const int cell_width = width * scale + 2 * kGap;
  const int cell_height = height * scale + kLetterHeight + 3 * kGap;
  const auto count = static_cast<int>(images.size());
  const int columns = static_cast<int>(std::ceil(std::sqrt(count)));
  auto sheet = white(columns * cell_width, (count + columns - 1) / columns * cell_height);
  for (int i = 0; i < count; ++i) {
    const auto& [image, caption] = images[static_cast<std::size_t>(i)];
    const int left = i % columns * cell_width, top = i / columns * cell_height;
    draw_image(sheet, image, scale, left + (cell_width - image.width * scale) / 2,
               top + kGap + (height - image.height) * scale);
    const auto text = fitting(caption, width * scale);
    int at = left + (cell_width - static_cast<int>(text.size()) * kLetterWidth) / 2;
    for (const char letter : text) {
      draw_letter(sheet, letter, at, top + height * scale + 2 * kGap);
      at += kLetterWidth;
    }
  }
  return sheet;
}

}  // namespace ddptrain
