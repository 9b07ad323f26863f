#include "transforms/geometry.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/clones.h"
#include "base/error.h"
#include "base/names.h"

namespace ddptrain {
namespace {

/// Calls `work` with whichever store the image uses.
template <class Work>
void on_pixels(Image& image, Work work) {
  if (image.is_float())
    work(image.floats);
  else
    work(image.bytes);
}

/// Which source column (or row) a place outside of 0 .. size stands for; -1 is the fill.
int source_of(int at, int size, PaddingMode mode) {
  if (at >= 0 && at < size) return at;
  switch (mode) {
    case PaddingMode::constant:
      return -1;
    case PaddingMode::edge:
      return std::clamp(at, 0, size - 1);
    case PaddingMode::reflect:
      return at < 0 ? -at : 2 * (size - 1) - at;
    case PaddingMode::symmetric:
      break;
  }
  return at < 0 ? -1 - at : 2 * size - 1 - at;
}

std::vector<int> sources(int before, int size, int after, PaddingMode mode) {
  std::vector<int> from;
  for (int at = -before; at < size + after; ++at) from.push_back(source_of(at, size, mode));
  return from;
}

void check_mirror(const Image& image, const Borders& b, PaddingMode mode) {
  if (mode != PaddingMode::reflect && mode != PaddingMode::symmetric) return;
  const int less = mode == PaddingMode::reflect ? 1 : 0;
  if (std::max(b.left, b.right) <= image.width - less &&
      std::max(b.top, b.bottom) <= image.height - less)
    return;
  throw Error(Exit::data,
              "an image of {} x {} pixels is too small to be padded with its mirror image; pad it "
              "with 'edge' or 'constant', or resize it first",
              image.width, image.height);
}

template <class T>
T as(double value) {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
  else
    return static_cast<T>(value);
}

template <class T>
void pad_pixels(const Image& image, const std::vector<int>& columns, const std::vector<int>& rows,
                T fill, std::vector<T>& pixels) {
  const int channels = image.channels;
  std::vector<T> padded;
  padded.reserve(columns.size() * rows.size() * channels);
  for (int row : rows)
    for (int column : columns) {
      const bool outside = row < 0 || column < 0;
      const std::size_t from = outside ? 0 : (std::size_t(row) * image.width + column) * channels;
      for (int c = 0; c < channels; ++c) padded.push_back(outside ? fill : pixels[from + c]);
    }
  pixels = std::move(padded);
}

template <class T>
void flip_rows(T* pixels, int width, int height, int channels) {
  for (int y = 0; y < height; ++y, pixels += std::size_t(width) * channels) {
    T *left = pixels, *right = pixels + std::size_t(width - 1) * channels;
    for (; left < right; left += channels, right -= channels)
      for (int c = 0; c < channels; ++c) std::swap(left[c], right[c]);
  }
}

/// A row of three bytes a pixel, five pixels at a time. `line` has 16 bytes more than the row.
DDPTRAIN_CLONES
void mirror_colors(std::uint8_t* row, int width, std::uint8_t* line) {
  using Block = std::uint8_t __attribute__((vector_size(16)));
  std::memcpy(line, row, std::size_t(width) * 3);
  int x = 0;
  for (; x + 5 < width; x += 5) {  // the byte behind them is written again
    Block block;
    std::memcpy(&block, line + std::size_t(width - 5 - x) * 3, sizeof block);
    block =
        __builtin_shufflevector(block, block, 12, 13, 14, 9, 10, 11, 6, 7, 8, 3, 4, 5, 0, 1, 2, 15);
    std::memcpy(row + std::size_t(x) * 3, &block, sizeof block);
  }
  for (; x < width; ++x)
    std::memcpy(row + std::size_t(x) * 3, line + std::size_t(width - 1 - x) * 3, 3);
}

void mirror_colors(Image& image) {
  std::vector<std::uint8_t> line(std::size_t(image.width) * 3 + 16);
  for (int y = 0; y < image.height; ++y)
    mirror_colors(&image.bytes[std::size_t(y) * image.width * 3], image.width, line.data());
}

}  // namespace

std::span<const std::string_view> names(PaddingMode) {
  return kNameList<"constant", "edge", "reflect", "symmetric">;
}

void crop(Image& image, const Box& box) {
  DDP_CHECK(box.left >= 0 && box.top >= 0 && box.left + box.width <= image.width &&
                box.top + box.height <= image.height,
            "a crop outside of the image");
  const std::size_t stride = std::size_t(image.width) * image.channels;
  const std::size_t out_stride = std::size_t(box.width) * image.channels;
  on_pixels(image, [&](auto& pixels) {
    const auto start = pixels.begin() + box.top * stride + std::size_t(box.left) * image.channels;
    for (int y = 0; y < box.height; ++y)  // upwards and to the left: each value before it is lost
      std::copy_n(start + y * stride, out_stride, pixels.begin() + y * out_stride);
    pixels.resize(box.height * out_stride);
  });
  image.width = box.width;
  image.height = box.height;
  for (auto& mask : image.masks) crop(mask, box);
  for (auto& point : image.points) point = {point.x - box.left, point.y - box.top};
}

void pad(Image& image, const Borders& borders, PaddingMode mode, double fill) {
  check_mirror(image, borders, mode);
  const auto columns = sources(borders.left, image.width, borders.right, mode);
  const auto rows = sources(borders.top, image.height, borders.bottom, mode);
  on_pixels(image, [&](auto& pixels) {
    using T = typename std::remove_reference_t<decltype(pixels)>::value_type;
    pad_pixels(image, columns, rows, as<T>(fill), pixels);
  });
  image.width = static_cast<int>(columns.size());
  image.height = static_cast<int>(rows.size());
  for (auto& mask : image.masks) pad(mask, borders, mode, mask.border);
  for (auto& point : image.points) point = {point.x + borders.left, point.y + borders.top};
}

void flip_horizontally(Image& image) {
  if (image.channels == 3 && !image.is_float())
    mirror_colors(image);
  else
    on_pixels(image, [&](auto& pixels) {
      flip_rows(pixels.data(), image.width, image.height, image.channels);
    });
  for (auto& mask : image.masks) flip_horizontally(mask);
  for (auto& point : image.points) point.x = image.width - point.x;
}

void flip_vertically(Image& image) {
  const std::size_t stride = std::size_t(image.width) * image.channels;
  on_pixels(image, [&](auto& pixels) {
    for (int y = 0; y < image.height / 2; ++y)
      std::swap_ranges(pixels.begin() + y * stride, pixels.begin() + (y + 1) * stride,
                       pixels.begin() + (image.height - 1 - y) * stride);
  });
  for (auto& mask : image.masks) flip_vertically(mask);
  for (auto& point : image.points) point.y = image.height - point.y;
}

void erase(Image& image, const Box& box, std::span<const double> values) {
  DDP_CHECK(values.size() == 1 || values.size() == std::size_t(image.channels),
            "one value, or one per channel");
  on_pixels(image, [&](auto& pixels) {
    using T = typename std::remove_reference_t<decltype(pixels)>::value_type;
    for (int y = std::max(0, box.top); y < std::min(image.height, box.top + box.height); ++y)
      for (int x = std::max(0, box.left); x < std::min(image.width, box.left + box.width); ++x)
        for (int c = 0; c < image.channels; ++c)
          pixels[(std::size_t(y) * image.width + x) * image.channels + c] =
              as<T>(values[values.size() == 1 ? 0 : c]);
  });
}

}  // namespace ddptrain
