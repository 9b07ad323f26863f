#include "sources/image/idx.h"

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {

std::vector<std::size_t> idx_sizes(std::span<const std::uint8_t> bytes, std::size_t dimensions,
                                   const std::string& file) {
  const auto fail = [&](const std::string& what) {
    throw Error(Exit::data, "'{}': {}", file, what);
  };
  const auto head = 4 + 4 * dimensions;
  if (bytes.size() < head || bytes[0] != 0 || bytes[1] != 0 || bytes[2] != 8 ||
      bytes[3] != dimensions)
    fail("not an IDX file of bytes in " +
         plural(static_cast<std::int64_t>(dimensions), "dimension"));
  std::vector<std::size_t> sizes;
  std::size_t total = 1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const auto* at = bytes.data() + 4 + 4 * d;
    sizes.push_back(std::size_t(at[0]) << 24 | std::size_t(at[1]) << 16 | std::size_t(at[2]) << 8 |
                    at[3]);
    if (sizes.back() == 0) fail("a size of 0 in its head");
    if (sizes.back() > (bytes.size() - head) / total) fail("cut short: its head asks for more");
    total *= sizes.back();
  }
  if (bytes.size() != head + total) fail("longer than its head says");
  return sizes;
}

}  // namespace ddptrain
