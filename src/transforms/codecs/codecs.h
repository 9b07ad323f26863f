// The three decoders behind decode.h, one file each. All give Errors that name the file.
#pragma once

#include <csetjmp>
#include <optional>
#include <string>

#include "base/error.h"
#include "transforms/codecs/decode.h"

namespace ddptrain {

/// What a header says. `orientation` is EXIF's, 1 .. 8; the size is as stored, before turning.
struct ImageHeader {
  ImageSize size;
  int orientation = 1;
};

/// A rectangle of the image scaled down by `shrink` (1, 2, 4, 8), in the pixels of that scale.
struct ImagePart {
  int left = 0, top = 0, width = 0, height = 0;
  int shrink = 1;
};

bool is_jpeg(std::span<const std::uint8_t> bytes);
ImageHeader jpeg_header(const EncodedImage& file);
/// A JPEG that every decoder takes: 8 bits, Huffman codes, gray or YCbCr. Throws what decode_jpeg()
/// would say about its header.
bool is_usual_jpeg(const EncodedImage& file, const DecodeOptions& options);
void decode_jpeg(const EncodedImage& file, const DecodeOptions& options, Image& into);
/// Decodes at least `part`, as stored (not turned). Returns where `into` lies: its left may be less
/// and its width more than asked for, because blocks are decoded whole.
ImagePart decode_jpeg_part(const EncodedImage& file, const ImagePart& part,
                           const DecodeOptions& options, Image& into);

bool is_png(std::span<const std::uint8_t> bytes);
ImageHeader png_header(const EncodedImage& file);
void decode_png(const EncodedImage& file, const DecodeOptions& options, Image& into);
/// Palette indices or grays of at most 8 bits as they are stored; `options.channels` is 1.
void decode_png_mask(const EncodedImage& file, const DecodeOptions& options, Image& into);

bool is_webp(std::span<const std::uint8_t> bytes);
ImageHeader webp_header(const EncodedImage& file);
void decode_webp(const EncodedImage& file, const DecodeOptions& options, Image& into);

/// Throws "'name' ...": what is wrong with a file.
[[noreturn]] void bad_image(const EncodedImage& file, const std::string& what);

/// Refuses empty images and those with more pixels than allowed, before memory is taken.
void check_size(const EncodedImage& file, ImageSize size, const DecodeOptions& options);

/// Refuses large images in fewer bytes than any such file has. Small ones may be of any size.
void check_claim(const EncodedImage& file, ImageSize size, std::int64_t pixels_per_byte);

/// More pixels than these are looked at twice before memory is taken for them.
constexpr std::int64_t many_pixels = std::int64_t{1} << 24;

/// Turns an image by EXIF's orientation.
void orient(Image& image, int orientation);

/// The orientation in the TIFF block of a JPEG's APP1 segment (after "Exif\0\0"), 1 if there is
/// none.
int exif_orientation(std::span<const std::uint8_t> tiff);

/// Pillow's gray of a color: weights 0.299, 0.587, 0.114 in 16 bits.
inline std::uint8_t gray_of(int red, int green, int blue) {
  return static_cast<std::uint8_t>((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16);
}

/// Where a C library's error handler jumps back to. Only code without destructors runs inside
/// run(): everything that owns memory lives outside of it.
class JumpGuard {
 public:
  /// False when `step` ended in jump().
  template <class Step>
  bool run(Step&& step) {
    if (setjmp(place_) != 0) return false;
    step();
    return true;
  }
  [[noreturn]] void jump() { longjmp(place_, 1); }

 private:
  std::jmp_buf place_;
};

}  // namespace ddptrain
