// JPEG files of every sampling of their colors.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
// jpeglib.h needs stdio
#include <jpeglib.h>

#include "transforms/image.h"

namespace ddptrain::test {

/// Luma samples for each of chroma, across and down; `progressive`: in several scans.
struct JpegKind {
  int across = 1;
  int down = 1;
  bool progressive = false;
};

inline std::vector<std::uint8_t> jpeg_file(Image image, const JpegKind& kind) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.input_components = image.channels;
  info.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  info.comp_info[0].h_samp_factor = kind.across;
  info.comp_info[0].v_samp_factor = kind.down;
  if (kind.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = image.bytes.data() +
                static_cast<std::size_t>(info.next_scanline) * image.width * image.channels;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::vector<std::uint8_t> file(bytes, bytes + size);
  std::free(bytes);
  return file;
}

}  // namespace ddptrain::test
