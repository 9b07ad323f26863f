// Compressed images to pixels: JPEG, PNG and WebP, recognized by their first bytes and not by
// their names. Whatever is wrong with a file is an Error (Exit::data) that names it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "transforms/geometry/resample.h"
#include "transforms/image.h"

namespace ddptrain {

/// A file in memory and what messages call it: its path.
struct EncodedImage {
  std::span<const std::uint8_t> bytes;
  std::string_view name;
};

/// Pillow's Image.MAX_IMAGE_PIXELS doubled, above which it refuses: 89,478,485 pixels of 3 bytes
/// are a quarter of a GiB.
constexpr std::int64_t default_max_pixels = 178'956'970;

struct ImageSize {
  int width = 0;
  int height = 0;
  bool operator==(const ImageSize&) const = default;
};

/// Decodes JPEGs elsewhere than libjpeg does, as on a GPU: a whole image of `size`, not turned,
/// into width x height x channels (3, or 1 for gray) bytes. False: it does not take this file, and
/// libjpeg is to decode it or to say what is wrong with it. For many threads at a time.
using JpegDecoder =
    std::function<bool(const EncodedImage&, ImageSize size, int channels, std::uint8_t* pixels)>;

struct DecodeOptions {
  int channels = 3;              // 3, or 1 for gray
  bool exif_orientation = true;  // turn as the camera was held
  std::int64_t max_pixels = default_max_pixels;
  const JpegDecoder* jpeg = nullptr;  // of baseline and progressive JPEGs in gray and YCbCr
};

/// exact: decode everything, then resize as Pillow does, to the last bit. fast: decode only the
/// window, smaller where the window keeps at least its resolution, and resize with one rounding
/// (docs/image-decoding.md says how far apart they are).
enum class DecodeMode { fast, exact };
std::span<const std::string_view> names(DecodeMode);

/// Reads the header alone. The size is that of the oriented image.
ImageSize image_size(const EncodedImage& file, const DecodeOptions& options = {});

/// The whole image as bytes; alpha is dropped, 16 bits keep their upper 8.
Image decode(const EncodedImage& file, const DecodeOptions& options = {});
void decode(const EncodedImage& file, const DecodeOptions& options, Image& into);

/// The class of each pixel, from a PNG whose palette indices or grays are classes: one channel of
/// bytes as they are stored, colors of the palette ignored. Other files are Errors.
Image decode_mask(const EncodedImage& file, std::int64_t max_pixels = default_max_pixels);

/// A window of an image, and how its pixels are made.
struct DecodedWindow {
  Window window;
  DecodeMode mode = DecodeMode::fast;
};

/// A window of the oriented image, resized to out_width x out_height. `work` holds
/// what was decoded in between, so that its memory is used again. The pixels are those of
/// cut_window(), whichever part of the file is decoded.
void decode_window(const EncodedImage& file, const DecodedWindow& asked,
                   const DecodeOptions& options, Image& work, Image& into);

/// Whether decode_window() may decode a file scaled down: a JPEG that libjpeg decodes and that is
/// not turned.
bool scales_while_decoding(const EncodedImage& file, const DecodeOptions& options = {});

/// By how much, 1 to 8, a file that may be is scaled down for a window.
int decoded_shrink(const Window& window, DecodeMode mode);

/// The whole image at that scale; as decode() where it is 1.
void decode_shrunk(const EncodedImage& file, int shrink, const DecodeOptions& options, Image& into);

/// The same window out of that: what decode_window() gives, to the last bit. `size` is the image's
/// own; `shrink` that of decoded_shrink(), or 1 for files that are not scaled while decoding.
void cut_window(const PixelView& shrunk, ImageSize size, int shrink, const DecodedWindow& asked,
                Image& into);

}  // namespace ddptrain
