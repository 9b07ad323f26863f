#include "transforms/codecs/write.h"

#include <png.h>

#include "base/error.h"

namespace ddptrain {

std::string encode_png(const Image& image) {
  DDP_CHECK(image.bytes.size() == image.values() && (image.channels == 1 || image.channels == 3),
            "a PNG of this image");
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = image.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  std::string file(PNG_IMAGE_PNG_SIZE_MAX(header), '\0');
  png_alloc_size_t size = file.size();
  const int made =
      png_image_write_to_memory(&header, file.data(), &size, 0, image.bytes.data(), 0, nullptr);
  DDP_CHECK(made != 0, "libpng wrote no image");
  file.resize(size);
  return file;
}

}  // namespace ddptrain
