#include "transforms/codecs/write.h"

#include <png.h>

#include "base/error.h"
#include "transforms/codecs/mask_colors.h"

namespace ddptrain {
namespace {

std::string written(const Image& image, png_uint_32 format, const void* palette) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = format;
  header.colormap_entries = palette ? 256 : 0;
  std::string file(PNG_IMAGE_PNG_SIZE_MAX(header), '\0');
  png_alloc_size_t size = file.size();
  const int made =
      png_image_write_to_memory(&header, file.data(), &size, 0, image.bytes.data(), 0, palette);
  DDP_CHECK(made != 0, "libpng wrote no image");
  file.resize(size);
  return file;
}

}  // namespace

std::string encode_png(const Image& image) {
  DDP_CHECK(image.bytes.size() == image.values() && (image.channels == 1 || image.channels == 3),
            "a PNG of this image");
  return written(image, image.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB, nullptr);
}

std::string encode_mask_png(const Image& mask) {
  DDP_CHECK(mask.bytes.size() == mask.values() && mask.channels == 1, "a PNG of this mask");
  std::array<MaskColor, 256> palette;
  for (std::size_t i = 0; i < palette.size(); ++i)
    palette[i] = mask_color(static_cast<std::uint8_t>(i));
  return written(mask, PNG_FORMAT_RGB_COLORMAP, palette.data());
}

}  // namespace ddptrain
