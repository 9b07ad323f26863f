// The head of IDX files of one and of three dimensions.
#include "sources/image/idx.h"

#include "base/error.h"
#include "input_file.h"

using namespace ddptrain;

namespace {

void read(std::span<const std::uint8_t> bytes, std::size_t dimensions) {
  try {
    // As many divisions as the product has factors: nothing overflows.
    auto rest = bytes.size() - 4 - 4 * dimensions;
    for (const auto size : idx_sizes(bytes, dimensions, "input")) {
      fuzz::claim(size > 0 && rest % size == 0, "the sizes divide the length");
      rest /= size;
    }
    fuzz::claim(rest == 1, "the sizes multiply to the length");
  } catch (const Error& error) {
    fuzz::claim(error.code() == Exit::data, "it is the data that is wrong");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  read({data, size}, 1);
  read({data, size}, 3);
  return 0;
}
