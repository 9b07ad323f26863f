// The CSV reader.
#include "data/csv/csv.h"

#include "base/error.h"
#include "input_file.h"

using namespace ddptrain;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const fuzz::InputFile file(fuzz::text_of(data, size));
  try {
    const Csv csv(file.path());
    const auto column = csv.required_column("path");
    fuzz::claim(csv.rows() > 0, "there are rows");
    csv.fail(csv.rows() - 1, column, csv.at(csv.rows() - 1, column));
  } catch (const Error& error) {
    fuzz::claim(error.code() == Exit::data, "it is the data that is wrong");
  }
  return 0;
}
