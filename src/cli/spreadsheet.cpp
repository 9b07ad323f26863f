#include "cli/spreadsheet.h"

#include "base/error.h"

namespace ddptrain {

CsvReader reader_of(const Arguments& arguments, bool writes_csv) {
  if (!arguments.has(kSpreadsheet.name)) return CsvReader::program;
  if (!writes_csv) throw Error(Exit::recipe, "--spreadsheet is for '--format csv'");
  return CsvReader::spreadsheet;
}

}  // namespace ddptrain
