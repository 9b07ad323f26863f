// The CSV reader, in the formats that files of other programs have.
#include "sources/csv/csv.h"

#include "base/error.h"
#include "input_file.h"
#include "sources/csv/csv_columns.h"

using namespace ddptrain;

namespace {

std::vector<CsvFormat> formats() {
  CsvFormat german, wide, bare;
  german.separator = CsvSeparator::semicolon;
  german.decimal = CsvDecimal::comma;
  german.thousands = CsvThousands::point;
  german.units = {"EUR"};
  german.encoding = CsvEncoding::windows_1252;
  wide.encoding = CsvEncoding::utf_16;
  wide.separator = CsvSeparator::tab;
  wide.duplicate_names = DuplicateNames::number;
  bare.header = false;
  bare.skip_lines = 1;
  return {{}, german, wide, bare};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const fuzz::InputFile file(fuzz::text_of(data, size));
  for (const auto& format : formats()) try {
      const Csv csv(file.path(), format);
      fuzz::claim(csv.rows() > 0, "there are rows");
      read_columns(csv, {0}, {ColumnKind::automatic}, pandas_missing());
      const auto column = csv.required_column("path");
      csv.fail(csv.rows() - 1, column, csv.at(csv.rows() - 1, column));
    } catch (const Error& error) {
      fuzz::claim(error.code() == Exit::data, "it is the data that is wrong");
    }
  return 0;
}
