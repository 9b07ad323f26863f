// JPEG, PNG and WebP: sizes, whole images in color and gray, and windows. The last two bytes
// choose among these.
#include "base/error.h"
#include "input_file.h"
#include "transforms/codecs/decode.h"

using namespace ddptrain;

namespace {

constexpr std::int64_t most_pixels = 1 << 18;

void claim_whole(const Image& image) {
  fuzz::claim(!image.is_float() && image.bytes.size() == image.values(), "pixels fill an image");
}

void read_window(const EncodedImage& file, const DecodeOptions& options, int choice) {
  const auto size = image_size(file, options);
  Window window;
  window.left = size.width * (choice & 3) / 8.0;
  window.top = size.height * (choice >> 2 & 3) / 8.0;
  window.width = size.width - 2 * window.left;
  window.height = size.height - 2 * window.top;
  window.out_width = 1 + (choice >> 4 & 3) * 9;
  window.out_height = 1 + (choice >> 6 & 3) * 7;
  Image work, into;
  decode_window(file, {window, DecodeMode::fast}, options, work, into);
  fuzz::claim(into.width == window.out_width && into.height == window.out_height,
              "a window has the size that was asked for");
}

void read(const EncodedImage& file, int kind, int choice) {
  DecodeOptions options{.max_pixels = most_pixels};
  options.channels = (kind & 1) != 0 ? 1 : 3;
  options.exif_orientation = (kind & 2) == 0;
  if ((kind & 4) != 0) return read_window(file, options, choice);
  const auto image = decode(file, options);
  claim_whole(image);
  fuzz::claim(image_size(file, options) == ImageSize{image.width, image.height},
              "the header says the size");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size < 2) return 0;
  try {
    read({{data, size - 2}, "input"}, data[size - 1], data[size - 2]);
  } catch (const Error& error) {
    fuzz::claim(error.code() == Exit::data, "it is the file that is wrong");
  }
  return 0;
}
