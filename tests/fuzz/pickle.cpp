// The reader of Python's pickles, one after the other as old .pth files have them.
#include "checkpoint/pickle.h"

#include "base/error.h"
#include "input_file.h"

using namespace ddptrain;

namespace {

void check(const Pickle& pickle) {
  fuzz::claim(pickle.root < pickle.values.size(), "the root is a value");
  for (const auto& value : pickle.values) {
    for (const auto item : value.items)
      fuzz::claim(item < pickle.values.size(), "items are values");
    for (const auto& [key, entry] : value.entries)
      fuzz::claim(key < pickle.values.size() && entry < pickle.values.size(), "so are entries");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::span<const std::uint8_t> rest(data, size);
  try {
    while (!rest.empty()) {
      std::size_t used = 0;
      check(read_pickle(rest, "weights.pth", used));
      fuzz::claim(used > 0 && used <= rest.size(), "a pickle has a length");
      rest = rest.subspan(used);
    }
  } catch (const Error& error) {
    fuzz::claim(error.code() == Exit::data, "it is the data that is wrong");
  }
  return 0;
}
