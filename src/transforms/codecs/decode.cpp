#include "transforms/codecs/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/names.h"
#include "transforms/codecs/codecs.h"

namespace ddptrain {
namespace {

enum class Format { jpeg, png, webp };

struct Signature {
  std::string_view bytes;
  const char* format;
};

constexpr Signature others[] = {
    {"GIF8", "GIF"},       {"BM", "BMP"},           {"II*\0", "TIFF"}, {"MM\0*", "TIFF"},
    {"8BPS", "Photoshop"}, {"%PDF", "PDF"},         {"<svg", "SVG"},   {"<!DOCTYPE", "HTML"},
    {"<html", "HTML"},     {"\xFF\x0A", "JPEG XL"}, {"PK", "ZIP"},
};

const char* other_format(std::span<const std::uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const auto& [signature, format] : others)
    if (text.starts_with(signature)) return format;
  if (text.size() > 12 && text.substr(4, 4) == "ftyp") return "HEIF, AVIF or video";
  return nullptr;
}

Format format_of(const EncodedImage& file) {
  if (is_jpeg(file.bytes)) return Format::jpeg;
  if (is_png(file.bytes)) return Format::png;
  if (is_webp(file.bytes)) return Format::webp;
  if (file.bytes.empty()) bad_image(file, "is empty (0 bytes)");
  const char* other = other_format(file.bytes);
  bad_image(file, fmt::format("is {}; JPEG, PNG and WebP are read",
                              other ? fmt::format("a {} file", other) : "no image"));
}

ImageHeader header_of(const EncodedImage& file) {
  switch (format_of(file)) {
    case Format::jpeg:
      return jpeg_header(file);
    case Format::png:
      return png_header(file);
    case Format::webp:
      break;
  }
  return webp_header(file);
}

/// The most a JPEG may be shrunk while decoding so that a window keeps its target's resolution.
/// Only powers of two have fast inverse transforms.
int shrink_for(const Window& window) {
  for (int shrink : {8, 4, 2})
    if (window.width >= double(shrink) * window.out_width &&
        window.height >= double(shrink) * window.out_height)
      return shrink;
  return 1;
}

/// The pixels that a window touches at a scale.
ImagePart part_of(const Window& window, ImageSize size, int shrink) {
  const int right = (size.width + shrink - 1) / shrink,
            bottom = (size.height + shrink - 1) / shrink;
  ImagePart part;
  part.shrink = shrink;
  part.left = std::clamp(int(std::floor(window.left / shrink)), 0, right - 1);
  part.top = std::clamp(int(std::floor(window.top / shrink)), 0, bottom - 1);
  const int end_x = int(std::ceil((window.left + window.width) / shrink));
  const int end_y = int(std::ceil((window.top + window.height) / shrink));
  part.width = std::clamp(end_x, part.left + 1, right) - part.left;
  part.height = std::clamp(end_y, part.top + 1, bottom) - part.top;
  return part;
}

Window within(const Window& window, const ImagePart& part) {
  Window inside = window;
  inside.left = window.left / part.shrink - part.left;
  inside.top = window.top / part.shrink - part.top;
  inside.width = window.width / part.shrink;
  inside.height = window.height / part.shrink;
  return inside;
}

/// A column more on each side: at the edges of what it decodes, libjpeg has one neighbor too few
/// for chroma between two samples. Fewer columns than `least` would be interpolated otherwise.
ImagePart with_neighbors(const ImagePart& part, ImageSize size) {
  constexpr int least = 32;
  const int right = (size.width + part.shrink - 1) / part.shrink;
  ImagePart wider = part;
  wider.left = std::max(0, part.left - 1);
  const int end = std::min(right, std::max(part.left + part.width + 1, wider.left + least));
  wider.left = std::max(0, std::min(wider.left, end - least));
  wider.width = end - wider.left;
  return wider;
}

/// By options.jpeg; false where libjpeg has to.
bool decoded_elsewhere(const EncodedImage& file, ImageSize size, const DecodeOptions& options,
                       Image& into) {
  if (options.jpeg == nullptr || !is_usual_jpeg(file, options)) return false;
  into.width = size.width;
  into.height = size.height;
  into.channels = options.channels;
  into.floats.clear();
  into.bytes.resize(into.values());
  return (*options.jpeg)(file, size, options.channels, into.bytes.data());
}

}  // namespace

std::span<const std::string_view> names(DecodeMode) { return kNameList<"fast", "exact">; }

void bad_image(const EncodedImage& file, const std::string& what) {
  throw Error(Exit::data, "'{}' {}", file.name, what);
}

void check_size(const EncodedImage& file, ImageSize size, const DecodeOptions& options) {
  const std::int64_t pixels = std::int64_t(size.width) * size.height;
  const std::string text = fmt::format("{} x {}", size.width, size.height);
  if (pixels <= 0) bad_image(file, "has no pixels: its size is " + text);
  if (pixels > options.max_pixels)
    bad_image(file,
              fmt::format(
                  "is too large: {} pixels, at most {} are decoded; data.max_pixels may allow more",
                  text, options.max_pixels));
}

void check_claim(const EncodedImage& file, ImageSize size, std::int64_t pixels_per_byte) {
  const std::int64_t pixels = std::int64_t(size.width) * size.height;
  const auto bytes = static_cast<std::int64_t>(file.bytes.size());
  if (pixels <= many_pixels || pixels / pixels_per_byte <= bytes) return;
  bad_image(file, fmt::format("claims {} x {} pixels and has {} bytes, which cannot hold them",
                              size.width, size.height, bytes));
}

ImageSize image_size(const EncodedImage& file, const DecodeOptions& options) {
  const auto header = header_of(file);
  check_size(file, header.size, options);
  if (options.exif_orientation && header.orientation >= 5)
    return {header.size.height, header.size.width};
  return header.size;
}

void decode(const EncodedImage& file, const DecodeOptions& options, Image& into) {
  const auto header = header_of(file);
  check_size(file, header.size, options);
  switch (format_of(file)) {
    case Format::jpeg:
      if (!decoded_elsewhere(file, header.size, options, into)) decode_jpeg(file, options, into);
      break;
    case Format::png:
      decode_png(file, options, into);
      break;
    case Format::webp:
      decode_webp(file, options, into);
      break;
  }
  if (options.exif_orientation) orient(into, header.orientation);
}

Image decode(const EncodedImage& file, const DecodeOptions& options) {
  Image image;
  decode(file, options, image);
  return image;
}

Image decode_mask(const EncodedImage& file, std::int64_t max_pixels) {
  if (format_of(file) != Format::png)
    bad_image(file, "is no PNG; masks are PNG files whose palette indices or grays are classes");
  Image mask;
  decode_png_mask(file, {.channels = 1, .max_pixels = max_pixels}, mask);
  return mask;
}

bool scales_while_decoding(const EncodedImage& file, const DecodeOptions& options) {
  return options.jpeg == nullptr && is_jpeg(file.bytes) &&
         (!options.exif_orientation || jpeg_header(file).orientation == 1);
}

int decoded_shrink(const Window& window, DecodeMode mode) {
  return mode == DecodeMode::exact ? 1 : shrink_for(window);
}

void decode_shrunk(const EncodedImage& file, int shrink, const DecodeOptions& options,
                   Image& into) {
  if (shrink == 1) return decode(file, options, into);
  const auto size = jpeg_header(file).size;
  check_size(file, size, options);
  const ImagePart whole{0, 0, (size.width + shrink - 1) / shrink,
                        (size.height + shrink - 1) / shrink, shrink};
  decode_jpeg_part(file, whole, options, into);
}

void cut_window(const PixelView& shrunk, ImageSize size, int shrink, const DecodedWindow& asked,
                Image& into) {
  const auto& [window, mode] = asked;
  if (mode == DecodeMode::exact) return resample(shrunk, window, into);
  const auto part = part_of(window, size, shrink);
  resample_fast(shrunk.part(part.left, part.top, part.width, part.height), within(window, part),
                into);
}

void decode_window(const EncodedImage& file, const DecodedWindow& asked,
                   const DecodeOptions& options, Image& work, Image& into) {
  const auto& [window, mode] = asked;
  if (mode == DecodeMode::exact || !scales_while_decoding(file, options)) {
    decode(file, options, work);
    return cut_window(view_of(work), {work.width, work.height}, 1, asked, into);
  }
  const auto size = jpeg_header(file).size;
  check_size(file, size, options);
  const auto part = part_of(window, size, shrink_for(window));
  const auto got = decode_jpeg_part(file, with_neighbors(part, size), options, work);
  const auto view =
      view_of(work).part(part.left - got.left, part.top - got.top, part.width, part.height);
  resample_fast(view, within(window, part), into);
}

}  // namespace ddptrain
