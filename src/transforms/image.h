// A decoded image in memory, before it becomes a tensor, with the targets that belong to its
// pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ddptrain {

/// A place in an image in pixels from the left upper corner: the first pixel's middle is (0.5,
/// 0.5).
struct ImagePoint {
  double x = 0, y = 0;
};

/// Rows of interleaved channels (H, W, C). Exactly one of the two stores is used: bytes 0 .. 255,
/// or floats (0 .. 1 until normalized). Functions that move pixels (transforms/geometry.h,
/// transforms/geometry/) move masks and points with them; those that change colors leave them.
struct Image {
  int width = 0;
  int height = 0;
  int channels = 3;
  std::vector<std::uint8_t> bytes;
  std::vector<float> floats;
  /// The class of each pixel: bytes in one channel, of this image's size. They are looked up by
  /// nearest.
  std::vector<Image> masks = {};
  std::uint8_t border = 0;              // of a mask: the class where a constant border was added
  std::vector<ImagePoint> points = {};  // may leave the image
  bool is_float() const { return !floats.empty(); }
  std::size_t values() const { return std::size_t(width) * height * channels; }
};

/// How pixels between pixels are made.
enum class Interpolation { nearest, bilinear, bicubic };
std::span<const std::string_view> names(Interpolation);

/// A rectangle of source pixels and the size it is to be resized to.
struct Window {
  double left = 0, top = 0, width = 0, height = 0;
  int out_width = 0, out_height = 0;
  Interpolation interpolation = Interpolation::bilinear;
  bool antialias = true;
};

/// The size of images at some point of a pipeline; height and width are 0 where they vary.
struct Extent {
  int channels = 3;
  int height = 0;
  int width = 0;
  bool fixed() const { return height > 0 && width > 0; }
  bool operator==(const Extent&) const = default;
};

}  // namespace ddptrain
