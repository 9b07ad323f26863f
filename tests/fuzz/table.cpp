// A table made ready for a network.
#include "sources/table/table.h"
#include "sources/table/csv_source.h"

#include "base/error.h"
#include "input_file.h"

using namespace ddptrain;

namespace {

void check(const Table& table) {
  for (const auto& split : table.splits) {
    const auto rows = split.rows.size();
    fuzz::claim(split.categories.size() == rows * table.fit.categories.size(), "a code for each");
    fuzz::claim(split.continuous.size() == rows * table.fit.continuous.size(), "a number for each");
    fuzz::claim(split.labels.size() + split.numbers.size() == rows, "a target for each");
    for (std::size_t i = 0; i < split.categories.size(); ++i) {
      const auto& classes = table.fit.categories[i % table.fit.categories.size()].classes;
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
    const CsvSource source(file.path());
    const auto table = read_table(source, options);
    check(table);
    const auto again = read_table(source, options, to_json(table.fit, options));
    fuzz::claim(again.splits[1].continuous == table.splits[1].continuous, "what is kept is exact");
  } catch (const Error& error) {
    fuzz::claim(error.code() == Exit::data || error.code() == Exit::recipe,
                "reported with its exit code");
  }
  return 0;
}
