#include "checkpoint/block_checksums.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files/digest.h"

namespace ddptrain {
namespace {

constexpr std::size_t digits = 8;

}  // namespace

std::vector<ByteRange> ranges_of(std::int64_t first, std::string_view bytes) {
  std::vector<ByteRange> ranges;
  while (!bytes.empty()) {
    const auto room = static_cast<std::size_t>(kBlockBytes - first % kBlockBytes);
    const auto part = bytes.substr(0, room);
    ranges.push_back({first, static_cast<std::int64_t>(part.size()), crc32c(part)});
    bytes.remove_prefix(part.size());
    first += static_cast<std::int64_t>(part.size());
  }
  return ranges;
}

std::int64_t blocks_in(std::int64_t size) {
  return std::max<std::int64_t>((size + kBlockBytes - 1) / kBlockBytes, 1);
}

std::string block_checksums(std::vector<ByteRange> ranges, std::int64_t size) {
  std::ranges::sort(ranges, {}, &ByteRange::first);
  std::vector<std::uint32_t> blocks(static_cast<std::size_t>(blocks_in(size)));
  std::int64_t next = 0;
  for (const auto& range : ranges) {
    if (range.first != next || range.count > size - next) return {};
    auto& block = blocks[static_cast<std::size_t>(next / kBlockBytes)];
    block = crc32c_of_both(block, range.crc, static_cast<std::uint64_t>(range.count));
    next += range.count;
  }
  if (next != size) return {};
  std::string text;
  for (const auto block : blocks) text += digits_of(block);
  return text;
}

std::string_view checksum_of_block(std::string_view checksums, std::int64_t i) {
  return checksums.substr(static_cast<std::size_t>(i) * digits, digits);
}

std::string digits_of(std::uint32_t crc) { return fmt::format("{:08x}", crc); }

}  // namespace ddptrain
