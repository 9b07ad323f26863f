// A whole JPEG by libjpeg, for what stands in the place of a GPU's decoder.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <functional>
// jpeglib.h needs stdio
#include <jpeglib.h>

namespace ddptrain::test {

struct JpegErrors : jpeg_error_mgr {
  std::jmp_buf place;
};

/// Into the memory that `give` has for so many bytes, height x width x channels (1 or 3); false
/// where libjpeg gives up or warns.
inline bool decode_whole_jpeg(const unsigned char* file, std::size_t bytes, int channels,
                              const std::function<unsigned char*(std::size_t)>& give) {
  JpegErrors errors;
  jpeg_decompress_struct info{};
  info.err = jpeg_std_error(&errors);
  errors.error_exit = [](j_common_ptr of) {
    std::longjmp(static_cast<JpegErrors*>(of->err)->place, 1);
  };
  errors.emit_message = [](j_common_ptr of, int level) {
    if (level < 0) of->err->error_exit(of);
  };
  const bool failed = setjmp(errors.place) != 0;
  if (!failed) {
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, file, bytes);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&info);
    const std::size_t row = std::size_t{info.output_width} * static_cast<std::size_t>(channels);
    unsigned char* const pixels = give(row * info.output_height);
    while (info.output_scanline < info.output_height) {
      unsigned char* to = pixels + info.output_scanline * row;
      jpeg_read_scanlines(&info, &to, 1);
    }
  }
  jpeg_destroy_decompress(&info);
  return !failed;
}

}  // namespace ddptrain::test
