// The reader of Python's pickles, one after the other as old .pth files have them.
#include "checkpoint/pytorch/pickle.h"

#include "base/error.h"
#include "input_file.h"

using namespace ddptrain;

namespace {

void check(const Pickle& pickle) {
  pickle.root();
  for (const auto& value : pickle.values()) {
    for (const auto item : pickle.items(value)) pickle.at(item);
    for (const auto entry : pickle.entries(value)) pickle.at(entry);
    fuzz::claim(pickle.entries(value).size() % 2 == 0, "a key has a value");
    pickle.name(value);
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
