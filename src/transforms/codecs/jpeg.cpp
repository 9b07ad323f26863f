// JPEG through libjpeg-turbo: gray, RGB, YCbCr, CMYK and Adobe's YCCK, baseline and progressive;
// whole images, or only a part of them, scaled while decoding.
#include <fmt/format.h>

#include <cstdio>
// jpeglib.h needs stdio
#include <jpeglib.h>
// after jpeglib.h
#include <jerror.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "transforms/codecs/codecs.h"

namespace ddptrain {
namespace {

// Every 8 x 8 block of a scan with Huffman codes takes at least a bit, and the largest unit of a
// file covers 32 x 32 pixels with 9 blocks (ITU-T T.81, A.2.3 and B.2.3: at most 10 blocks, factors
// up to 4). Arithmetic codes can be shorter: only nearly empty images are, and small ones stay
// welcome.
constexpr std::int64_t pixels_per_byte = 1024;

// Later scans of a progressive file may take a few bytes and cost a pass over all blocks (libjpeg's
// advisory of 2015, "Two Issues with the JPEG Standard"). Encoders write 10, careful ones some 60.
constexpr int max_scans = 500;
constexpr const char* too_many_scans = " scans of so many pixels are too many";
constexpr std::int64_t scanned_pixels = std::int64_t{1} << 29, scanned_pixels_per_byte = 2048;

// A file of several scans is decoded by way of all its coefficients, two bytes each: 128 MB are
// those of 42 million pixels with halved colors, and a photo of more has a byte for a hundred of
// them.
constexpr std::int64_t coefficient_bytes = 128'000'000, coefficient_bytes_per_byte = 100;

bool is_frame(int marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

int word_at(std::span<const std::uint8_t> bytes, std::size_t at) {
  return bytes[at] << 8 | bytes[at + 1];
}

/// A marker with what belongs to it (ITU-T T.81, B.1.1.4).
struct Segment {
  int marker = 0;  // 0: there is none
  std::span<const std::uint8_t> data;
  std::size_t end = 0;
};

/// The first segment from `at` on. Like libjpeg it passes over stray bytes, data of scans and
/// markers that stand alone.
Segment next_segment(std::span<const std::uint8_t> bytes, std::size_t at) {
  while (at + 4 <= bytes.size()) {
    const auto* found =
        static_cast<const std::uint8_t*>(std::memchr(&bytes[at], 0xFF, bytes.size() - 3 - at));
    if (!found) break;
    at = static_cast<std::size_t>(found - bytes.data());
    const int marker = bytes[at + 1];
    if (marker == 0xFF || marker == 0x00 || marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) {
      at += marker == 0xFF ? 1 : 2;
      continue;
    }
    const std::size_t length = word_at(bytes, at + 2);
    if (marker == 0xD9 || length < 2 || at + 2 + length > bytes.size()) break;
    return {marker, bytes.subspan(at + 4, length - 2), at + 2 + length};
  }
  return {};
}

/// No more than one above the most that a file may have are counted.
int count_scans(std::span<const std::uint8_t> bytes) {
  int scans = 0;
  for (auto segment = next_segment(bytes, 2); segment.marker != 0 && scans <= max_scans;
       segment = next_segment(bytes, segment.end))
    scans += segment.marker == 0xDA;
  return scans;
}

bool are_too_many(int scans, const jpeg_decompress_struct& info, const EncodedImage& file) {
  const std::int64_t pixels = std::int64_t{info.image_width} * info.image_height;
  return scans > max_scans ||
         scans * pixels > scanned_pixels + scanned_pixels_per_byte * std::ssize(file.bytes);
}

/// libjpeg's decompressor with an owner. What goes wrong inside of step() is thrown after it.
class JpegReader {
 public:
  explicit JpegReader(const EncodedImage& file) : file_(file) {
    info_.err = jpeg_std_error(&errors_);
    info_.client_data = this;
    errors_.error_exit = [](j_common_ptr info) { reader(info).fail(info); };
    errors_.emit_message = [](j_common_ptr info, int level) { reader(info).warn(info, level); };
    step([&] {
      jpeg_create_decompress(&info_);
      jpeg_mem_src(&info_, file_.bytes.data(), file_.bytes.size());
      jpeg_read_header(&info_, TRUE);
    });
    progress_.progress_monitor = [](j_common_ptr info) { reader(info).watch_scans(info); };
    info_.progress = &progress_;
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  jpeg_decompress_struct& info() { return info_; }

  template <class Step>
  void step(Step&& body) {
    if (!guard_.run(body)) bad_image(file_, std::string("is not a whole JPEG: ") + message_.data());
  }

 private:
  static JpegReader& reader(j_common_ptr info) {
    return *static_cast<JpegReader*>(info->client_data);
  }
  void fail(j_common_ptr info) {
    errors_.format_message(info, message_.data());
    guard_.jump();
  }
  /// libjpeg paints what is missing gray and only warns; here that is an error.
  void warn(j_common_ptr info, int level) {
    if (level >= 0) return;
    const int code = errors_.msg_code;
    if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE ||
        code == JWRN_ARITH_BAD_CODE)
      fail(info);
  }
  void watch_scans(j_common_ptr info) {
    if (!info->is_decompressor) return;
    const int scans = reinterpret_cast<j_decompress_ptr>(info)->input_scan_number;
    if (!are_too_many(scans, info_, file_)) return;
    std::snprintf(message_.data(), message_.size(), "%d%s", scans, too_many_scans);
    guard_.jump();
  }

  struct Decompressor : jpeg_decompress_struct {
    Decompressor() : jpeg_decompress_struct{} {}
    ~Decompressor() { jpeg_destroy_decompress(this); }
  };

  const EncodedImage& file_;
  Decompressor info_;
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  JumpGuard guard_;
  std::array<char, JMSG_LENGTH_MAX> message_{};
};

/// One of Adobe's inverted colors under its key, as Pillow and torchvision convert it.
int uninvert(int color, int key) {
  int v = key * (255 - color) + 128;
  v = ((v >> 8) + v) >> 8;
  return std::clamp(key - v, 0, 255);
}

void convert_cmyk(const std::uint8_t* from, int width, int channels, std::uint8_t* to) {
  for (int x = 0; x < width; ++x, from += 4, to += channels) {
    const int red = uninvert(from[0], from[3]);
    const int green = uninvert(from[1], from[3]);
    const int blue = uninvert(from[2], from[3]);
    if (channels == 1) {
      to[0] = gray_of(red, green, blue);
    } else {
      to[0] = static_cast<std::uint8_t>(red);
      to[1] = static_cast<std::uint8_t>(green);
      to[2] = static_cast<std::uint8_t>(blue);
    }
  }
}

std::int64_t bytes_of_coefficients(const jpeg_decompress_struct& info) {
  std::int64_t blocks = 0;
  for (int i = 0; i < info.num_components; ++i)
    blocks += std::int64_t{info.comp_info[i].width_in_blocks} * info.comp_info[i].height_in_blocks;
  return blocks * DCTSIZE2 * std::int64_t{sizeof(JCOEF)};
}

/// Before libjpeg takes memory for all coefficients, and time for every scan.
void check_scans(const EncodedImage& file, jpeg_decompress_struct& info) {
  if (!jpeg_has_multiple_scans(&info)) return;
  if (const int scans = count_scans(file.bytes); are_too_many(scans, info, file))
    bad_image(file, fmt::format("is not a whole JPEG: {}{}", scans, too_many_scans));
  const auto needed = bytes_of_coefficients(info);
  const auto bytes = std::ssize(file.bytes);
  if (needed <= coefficient_bytes + coefficient_bytes_per_byte * bytes) return;
  bad_image(
      file,
      fmt::format("is a JPEG of several scans whose {} x {} pixels need {} while they are decoded, "
                  "too much for a file of {}; saved as a baseline JPEG it can be read",
                  info.image_width, info.image_height, format_bytes(needed), format_bytes(bytes)));
}

/// Before libjpeg, or another decoder, takes memory and time for what the header claims.
void check_claims(const EncodedImage& file, jpeg_decompress_struct& info,
                  const DecodeOptions& options) {
  const ImageSize size{static_cast<int>(info.image_width), static_cast<int>(info.image_height)};
  check_size(file, size, options);
  check_claim(file, size, pixels_per_byte);
  check_scans(file, info);
}

void choose_output(jpeg_decompress_struct& info, int channels) {
  if (info.num_components == 4)
    info.out_color_space = JCS_CMYK;
  else
    info.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
}

/// Reads `into.height` rows, several a call where they need no conversion.
void read_rows(JpegReader& reader, Image& into) {
  auto& info = reader.info();
  const std::size_t stride = std::size_t(into.width) * into.channels;
  const bool cmyk = info.num_components == 4;
  std::vector<std::uint8_t> line(cmyk ? std::size_t(into.width) * 4 : 0);
  const bool large = std::int64_t{into.width} * into.height > many_pixels;
  into.bytes.reserve(into.values());  // not yet touched
  into.bytes.resize(large ? 0 : into.values());
  reader.step([&] {
    for (int y = 0; y < into.height;) {
      std::uint8_t* rows[8];
      const int wanted = cmyk ? 1 : std::min(8, into.height - y);
      if (large) into.bytes.resize((y + wanted) * stride);
      for (int i = 0; i < wanted; ++i)
        rows[i] = cmyk ? line.data() : into.bytes.data() + (y + i) * stride;
      const int got = static_cast<int>(jpeg_read_scanlines(&info, rows, wanted));
      if (cmyk)
        convert_cmyk(line.data(), into.width, into.channels, into.bytes.data() + y * stride);
      y += got;
    }
  });
}

}  // namespace

bool is_jpeg(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 3 && bytes[0] == 0xFF && bytes[1] == 0xD8 && bytes[2] == 0xFF;
}

ImageHeader jpeg_header(const EncodedImage& file) {
  ImageHeader header;
  const auto& bytes = file.bytes;
  for (auto segment = next_segment(bytes, 2); segment.marker != 0 && segment.marker != 0xDA;
       segment = next_segment(bytes, segment.end)) {
    const auto& data = segment.data;
    if (is_frame(segment.marker) && data.size() >= 6) {
      header.size = {word_at(data, 3), word_at(data, 1)};
      return header;
    }
    if (segment.marker == 0xE1 && data.size() > 6 && std::memcmp(data.data(), "Exif\0\0", 6) == 0)
      header.orientation = exif_orientation(data.subspan(6));
  }
  bad_image(file, "is not a whole JPEG: it ends before the size of the image");
}

bool is_usual_jpeg(const EncodedImage& file, const DecodeOptions& options) {
  JpegReader reader(file);
  auto& info = reader.info();
  check_claims(file, info, options);
  const bool usual_colors =
      info.jpeg_color_space == JCS_GRAYSCALE || info.jpeg_color_space == JCS_YCbCr;
  return usual_colors && info.data_precision == 8 && !info.arith_code;
}

ImagePart decode_jpeg_part(const EncodedImage& file, const ImagePart& part,
                           const DecodeOptions& options, Image& into) {
  JpegReader reader(file);
  auto& info = reader.info();
  check_claims(file, info, options);
  choose_output(info, options.channels);
  info.scale_num = 1;
  info.scale_denom = part.shrink;
  JDIMENSION left = part.left, width = part.width;
  reader.step([&] {
    jpeg_start_decompress(&info);
    if (left != 0 || width != info.output_width) jpeg_crop_scanline(&info, &left, &width);
    if (part.top > 0) jpeg_skip_scanlines(&info, part.top);
  });
  into.width = static_cast<int>(info.output_width);
  into.height = part.height;
  into.channels = options.channels;
  into.floats.clear();
  read_rows(reader, into);
  return {static_cast<int>(left), part.top, into.width, into.height, part.shrink};
}

void decode_jpeg(const EncodedImage& file, const DecodeOptions& options, Image& into) {
  const auto header = jpeg_header(file);
  const ImagePart whole{0, 0, header.size.width, header.size.height, 1};
  check_size(file, header.size, options);
  decode_jpeg_part(file, whole, options, into);
}

}  // namespace ddptrain
