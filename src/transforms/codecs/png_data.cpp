#include "transforms/codecs/png_data.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "transforms/codecs/codecs.h"

namespace ddptrain {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::int64_t most_deflated = 1032;  // to 1: zlib's manual, "Maximum Compression Factor"

struct Chunk {
  std::string_view type;
  Bytes data;         // what is there of it
  std::size_t claim;  // its length as it says
};

/// Takes a chunk off the front; an empty type at the end.
Chunk next_chunk(Bytes& rest) {
  if (rest.size() < 8) return {{}, {}, 0};
  Chunk chunk;
  chunk.claim = std::size_t(rest[0]) << 24 | rest[1] << 16 | rest[2] << 8 | rest[3];
  chunk.type = {reinterpret_cast<const char*>(rest.data()) + 4, 4};
  chunk.data = rest.subspan(8, std::min(chunk.claim, rest.size() - 8));
  rest = rest.subspan(std::min(rest.size(), chunk.claim + 12));
  return chunk;
}

/// The pieces of the image's data, which follow one another.
std::vector<Bytes> data_of(const EncodedImage& file) {
  std::vector<Bytes> pieces;
  auto rest = file.bytes.subspan(8);
  for (auto chunk = next_chunk(rest); !chunk.type.empty(); chunk = next_chunk(rest)) {
    if (chunk.type == "IDAT")
      pieces.push_back(chunk.data);
    else if (!pieces.empty())
      break;
  }
  return pieces;
}

/// Rows with their filter's byte, as they were before they were packed.
std::int64_t unpacked_size(Bytes file, ImageSize size) {
  constexpr int channels[] = {1, 0, 3, 1, 2, 0, 4};
  const std::int64_t depth = file[24], bits = depth * channels[std::min<int>(file[25], 6)];
  const auto rows = [&](std::int64_t width, std::int64_t height) {
    return width == 0 ? 0 : height * (1 + (width * bits + 7) / 8);
  };
  if (file[28] == 0) return rows(size.width, size.height);
  std::int64_t sum = 0;
  for (const auto& pass : adam7) sum += rows(pass.width(size.width), pass.height(size.height));
  return sum;
}

/// How much comes out of the data, at most `wanted`.
std::int64_t inflated_size(const std::vector<Bytes>& pieces, std::int64_t wanted) {
  z_stream stream{};
  DDP_CHECK(inflateInit(&stream) == Z_OK, "zlib's version differs from its header");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  std::vector<std::uint8_t> dropped(1 << 16);
  std::int64_t found = 0;
  for (const auto& piece : pieces) {
    stream.next_in = const_cast<Bytef*>(piece.data());
    stream.avail_in = static_cast<uInt>(piece.size());
    do {
      stream.next_out = dropped.data();
      stream.avail_out = static_cast<uInt>(dropped.size());
      const int result = inflate(&stream, Z_NO_FLUSH);
      found += static_cast<std::int64_t>(dropped.size() - stream.avail_out);
      if (found >= wanted || (result != Z_OK && result != Z_BUF_ERROR)) return found;
    } while (stream.avail_in > 0 || stream.avail_out == 0);
  }
  return found;
}

}  // namespace

void check_png_chunks(const EncodedImage& file) {
  auto rest = file.bytes.subspan(8);
  for (auto chunk = next_chunk(rest); !chunk.type.empty(); chunk = next_chunk(rest)) {
    if (chunk.type == "IDAT") return;
    if (chunk.data.size() < chunk.claim)
      bad_image(file, "is not a whole PNG: a part of it claims " + std::to_string(chunk.claim) +
                          " bytes, and " + std::to_string(chunk.data.size()) + " are there");
  }
}

void check_png_data(const EncodedImage& file, ImageSize size) {
  const auto pieces = data_of(file);
  std::int64_t bytes = 0;
  for (const auto& piece : pieces) bytes += static_cast<std::int64_t>(piece.size());
  const auto wanted = unpacked_size(file.bytes, size);
  if (wanted > bytes * most_deflated || (std::int64_t(size.width) * size.height > many_pixels &&
                                         inflated_size(pieces, wanted) < wanted))
    bad_image(file, "is not a whole PNG: its " + std::to_string(bytes) +
                        " bytes of data do not hold " + std::to_string(size.width) + " x " +
                        std::to_string(size.height) + " pixels");
}

}  // namespace ddptrain
