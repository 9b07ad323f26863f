#include "transforms/codecs/png_data.h"

#include <fmt/format.h>
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <memory>

#include "transforms/codecs/codecs.h"

namespace ddptrain {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::int64_t most_deflated = 1032;  // to 1: zlib's manual, "Maximum Compression Factor"

struct Chunk {
  std::string_view type;
  Bytes data;         // what is there of it
  std::size_t claim;  // its length as it says
  Bytes whole;        // with its length, type and checksum, as far as they are there
};

std::uint32_t number(Bytes at) {
  return std::uint32_t(at[0]) << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

/// Takes a chunk off the front; an empty type at the end.
Chunk next_chunk(Bytes& rest) {
  if (rest.size() < 8) return {};
  Chunk chunk;
  chunk.claim = number(rest);
  chunk.type = {reinterpret_cast<const char*>(rest.data()) + 4, 4};
  chunk.data = rest.subspan(8, std::min(chunk.claim, rest.size() - 8));
  chunk.whole = rest.first(std::min(rest.size(), chunk.claim + 12));
  rest = rest.subspan(chunk.whole.size());
  return chunk;
}

bool checksum_agrees(const Chunk& chunk) {
  if (chunk.whole.size() < chunk.claim + 12) return false;
  return libdeflate_crc32(0, chunk.whole.data() + 4, chunk.claim + 4) ==
         number(chunk.whole.last(4));
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

/// A PNG taken apart: what comes before the image's data, and the data as one.
struct Parts {
  Bytes before, data;
  std::vector<std::uint8_t> joined;  // of data in several pieces
};

/// No data where a piece of them is damaged.
Parts take_apart(const EncodedImage& file) {
  Parts parts;
  auto rest = file.bytes.subspan(8);
  for (auto chunk = next_chunk(rest); !chunk.type.empty(); chunk = next_chunk(rest)) {
    if (chunk.type == "IDAT") {
      if (!checksum_agrees(chunk)) return {};
      if (parts.data.empty()) {
        parts.data = chunk.data;
        continue;
      }
      if (parts.joined.empty()) parts.joined.assign(parts.data.begin(), parts.data.end());
      parts.joined.insert(parts.joined.end(), chunk.data.begin(), chunk.data.end());
      parts.data = parts.joined;
    } else if (parts.data.empty()) {
      parts.before = file.bytes.first(file.bytes.size() - rest.size());
    } else {
      break;
    }
  }
  return parts;
}

/// Empty unless exactly `size` bytes come out and their checksum agrees.
std::vector<std::uint8_t> inflated(Bytes data, std::size_t size) {
  using Inflater = std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)>;
  thread_local const Inflater inflater(libdeflate_alloc_decompressor(),
                                       libdeflate_free_decompressor);
  std::vector<std::uint8_t> bytes(size);
  if (!inflater || libdeflate_zlib_decompress(inflater.get(), data.data(), data.size(),
                                              bytes.data(), size, nullptr) != LIBDEFLATE_SUCCESS)
    bytes.clear();
  return bytes;
}

void append_number(std::vector<std::uint8_t>& to, std::size_t value) {
  for (const int shift : {24, 16, 8, 0}) to.push_back(static_cast<std::uint8_t>(value >> shift));
}

/// RFC 1950 and 1951: a zlib stream of blocks that are not compressed.
void append_stored(std::vector<std::uint8_t>& to, Bytes data) {
  constexpr std::size_t most = 65'535;
  to.insert(to.end(), {0x78, 0x01});
  for (auto rest = data; !rest.empty();) {
    const auto block = rest.first(std::min(rest.size(), most));
    rest = rest.subspan(block.size());
    const auto low = static_cast<std::uint8_t>(block.size());
    const auto high = static_cast<std::uint8_t>(block.size() >> 8);
    to.insert(to.end(),
              {std::uint8_t(rest.empty()), low, high, std::uint8_t(~low), std::uint8_t(~high)});
    to.insert(to.end(), block.begin(), block.end());
  }
  append_number(to, libdeflate_adler32(1, data.data(), data.size()));
}

}  // namespace

std::vector<std::uint8_t> unpacked_png(const EncodedImage& file, ImageSize size) {
  if (std::int64_t(size.width) * size.height > many_pixels) return {};
  const auto parts = take_apart(file);
  const auto wanted = static_cast<std::size_t>(unpacked_size(file.bytes, size));
  if (parts.data.empty() || wanted > parts.data.size() * most_deflated) return {};
  const auto rows = inflated(parts.data, wanted);
  if (rows.empty()) return {};
  std::vector<std::uint8_t> whole;
  whole.reserve(parts.before.size() + rows.size() + rows.size() / 4096 + 64);
  whole.assign(parts.before.begin(), parts.before.end());
  const std::size_t length_at = whole.size();
  whole.insert(whole.end(), {0, 0, 0, 0, 'I', 'D', 'A', 'T'});
  append_stored(whole, rows);
  std::vector<std::uint8_t> length;
  append_number(length, whole.size() - length_at - 8);
  std::copy(length.begin(), length.end(), whole.begin() + static_cast<std::ptrdiff_t>(length_at));
  append_number(whole, 0);  // the chunk's checksum, which is not checked
  return whole;
}

void check_png_chunks(const EncodedImage& file) {
  auto rest = file.bytes.subspan(8);
  for (auto chunk = next_chunk(rest); !chunk.type.empty(); chunk = next_chunk(rest)) {
    if (chunk.type == "IDAT") return;
    if (chunk.data.size() < chunk.claim)
      bad_image(file,
                fmt::format("is not a whole PNG: a part of it claims {} bytes, and {} are there",
                            chunk.claim, chunk.data.size()));
  }
}

void check_png_data(const EncodedImage& file, ImageSize size) {
  const auto pieces = data_of(file);
  std::int64_t bytes = 0;
  for (const auto& piece : pieces) bytes += static_cast<std::int64_t>(piece.size());
  const auto wanted = unpacked_size(file.bytes, size);
  if (wanted > bytes * most_deflated || (std::int64_t(size.width) * size.height > many_pixels &&
                                         inflated_size(pieces, wanted) < wanted))
    bad_image(file,
              fmt::format("is not a whole PNG: its {} bytes of data do not hold {} x {} pixels",
                          bytes, size.width, size.height));
}

}  // namespace ddptrain
