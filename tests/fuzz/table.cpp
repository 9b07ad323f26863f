// A table made ready for a network.
#include "data/table.h"

#include "base/error.h"
#include "input_file.h"

using namespace ddptrain;

namespace {

void check(const Table& table) {
  for (const auto& split : table.splits) {
    const auto rows = split.rows.size();
    fuzz::claim(split.categories.size() == rows * table.categories.size(), "a code for each");
    fuzz::claim(split.continuous.size() == rows * table.continuous.size(), "a number for each");
    fuzz::claim(split.labels.size() + split.numbers.size() == rows, "a target for each");
    for (std::size_t i = 0; i < split.categories.size(); ++i) {
      const auto& classes = table.categories[i % table.categories.size()].classes;
      fuzz::claim(split.categories[i] >= 0 &&
                      split.categories[i] < static_cast<std::int64_t>(classes.size()),
                  "codes are classes");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const fuzz::InputFile file(fuzz::text_of(data, size));
  TableOptions options;
  options.file = file.path();
  options.target = "y";
  try {
    check(read_table(options));
  } catch (const Error& error) {
    fuzz::claim(error.code() == Exit::data || error.code() == Exit::recipe, "said as it is");
  }
  return 0;
}
