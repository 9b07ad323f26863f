// WebP through libwebp, lossy and lossless; alpha is dropped, animations are refused.
#include <webp/decode.h>

#include <cstring>
#include <memory>

#include "transforms/codecs/codecs.h"

namespace ddptrain {
namespace {

const char* reason(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return "it ends too early";
    case VP8_STATUS_OUT_OF_MEMORY:
      return "out of memory";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "it uses an unknown feature";
    default:
      return "its contents are damaged";
  }
}

void check(const EncodedImage& file, VP8StatusCode status) {
  if (status != VP8_STATUS_OK)
    bad_image(file, std::string("is not a whole WebP: ") + reason(status));
}

// Lossless files need no bits at all for a plain color, lossy ones some hundredths of a bit; what
// is larger than the floor and emptier than this is no photograph.
constexpr std::int64_t webp_pixels_per_byte = 4096;

void make_gray(const std::uint8_t* colors, std::vector<std::uint8_t>& to) {
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = gray_of(colors[3 * i], colors[3 * i + 1], colors[3 * i + 2]);
}

}  // namespace

bool is_webp(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 12 && std::memcmp(bytes.data(), "RIFF", 4) == 0 &&
         std::memcmp(bytes.data() + 8, "WEBP", 4) == 0;
}

ImageHeader webp_header(const EncodedImage& file) {
  WebPBitstreamFeatures features;
  check(file, WebPGetFeatures(file.bytes.data(), file.bytes.size(), &features));
  if (features.has_animation) bad_image(file, "is an animated WebP; only still ones are read");
  return {{features.width, features.height}, 1};
}

void decode_webp(const EncodedImage& file, const DecodeOptions& options, Image& into) {
  const auto size = webp_header(file).size;
  check_size(file, size, options);
  check_claim(file, size, webp_pixels_per_byte);
  const std::size_t pixels = std::size_t(size.width) * size.height;
  WebPDecoderConfig config;
  DDP_CHECK(WebPInitDecoderConfig(&config), "libwebp's version differs from its header");
  config.output.colorspace = MODE_RGB;
  // Its memory, not ours: it is not touched before there are pixels.
  const std::unique_ptr<WebPDecBuffer, void (*)(WebPDecBuffer*)> end(&config.output,
                                                                     WebPFreeDecBuffer);
  check(file, WebPDecode(file.bytes.data(), file.bytes.size(), &config));
  const auto* colors = config.output.u.RGBA.rgba;
  DDP_CHECK(config.output.u.RGBA.stride == size.width * 3, "rows follow one another");
  into.width = size.width;
  into.height = size.height;
  into.channels = options.channels;
  into.floats.clear();
  if (options.channels == 3) {
    into.bytes.assign(colors, colors + pixels * 3);
  } else {
    into.bytes.resize(pixels);
    make_gray(colors, into.bytes);
  }
}

}  // namespace ddptrain
