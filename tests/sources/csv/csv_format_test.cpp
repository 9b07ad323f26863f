#include "sources/csv/csv_format.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "sources/csv/csv.h"
#include "sources/csv/csv_columns.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;

CsvFormat german() {
  CsvFormat format;
  format.separator = CsvSeparator::semicolon;
  format.decimal = CsvDecimal::comma;
  format.thousands = CsvThousands::point;
  return format;
}

double number_in(const std::string& cell, const CsvFormat& format) {
  const auto found = cell_number(cell, format);
  return found.is == CellNumber::number ? found.value : -999;
}

TEST(CsvFormats, ReadNumbersOfOtherCountries) {
  EXPECT_EQ(number_in("1.234.567,25", german()), 1234567.25);
  EXPECT_EQ(number_in("-0,5", german()), -0.5);
  EXPECT_EQ(number_in(",5", german()), 0.5);
  EXPECT_EQ(number_in("1,5e3", german()), 1500);
  EXPECT_EQ(number_in("12", german()), 12);
  CsvFormat swiss;
  swiss.thousands = CsvThousands::apostrophe;
  swiss.units = {"CHF"};
  EXPECT_EQ(number_in("CHF 1'234.50", swiss), 1234.5);
  EXPECT_EQ(number_in("-CHF 1\u20192345", swiss), -999) << "a group of four digits";
  CsvFormat french;
  french.decimal = CsvDecimal::comma;
  french.thousands = CsvThousands::blank;
  french.units = {"\u20ac"};
  EXPECT_EQ(number_in("1\u202f234,50\u00a0\u20ac", french), 1234.5);
  CsvFormat indian;
  indian.thousands = CsvThousands::comma;
  EXPECT_EQ(number_in("12,34,567.5", indian), 1234567.5);
}

TEST(CsvFormats, ReadNoNumberOfAnotherCountry) {
  for (const auto* cell : {"1.5", "1.2345", "1,2,3", "1.234.56", "", "-", "a", "1.", ".123", "5 m"})
    EXPECT_EQ(number_in(cell, german()), -999) << cell;
}

std::string problem_in(const std::string& text, const CsvFormat& format) {
  const TemporaryFolder folder;
  try {
    const Csv csv(folder.write("a.csv", text), format);
    read_columns(csv, {0}, {ColumnKind::numbers}, {});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    const std::string what = error.what();
    return what.substr(what.find("a.csv") + 5);
  }
  return "none";
}

TEST(CsvFormats, CutAtTheirSeparator) {
  const TemporaryFolder folder;
  const Csv csv(folder.write("a.csv", "a;b\r\n\"x;y\";1,5\r\n"), german());
  EXPECT_THAT(csv.header(), ElementsAre("a", "b"));
  EXPECT_EQ(csv.cell(0, 0), "x;y");
  EXPECT_EQ(csv.cell(0, 1), "1,5");
}

TEST(CsvFormats, SayWhereDataContradictThem) {
  EXPECT_EQ(problem_in("x;y\n1,5;a\n1.5;b\n", german()),
            ":3: column 'x': '1.5' is not a number as data.csv has them: decimal ',', thousands "
            "'.'; if it stands for a missing one, list it in data.missing");
  EXPECT_EQ(problem_in("sep=,\nx,y\n1,2\n", german()),
            ":1: 'sep=,', and data.csv.separator is ';'");
  EXPECT_EQ(problem_in("x;y\n1;2\n1;2;\n", german()),
            ":3: column 3: 3 fields where the header has 2 (the row ends with a separator, the "
            "header does not)");
  auto windows = german();
  windows.encoding = CsvEncoding::windows_1252;
  EXPECT_EQ(problem_in("x;y\n1;\xc3\xa4\n", windows),
            ":1: column 1: UTF-8 text, and data.csv.encoding is windows-1252; write "
            "'data.csv.encoding: utf-8'");
  EXPECT_EQ(problem_in("x;y\n1;\x81\n", windows),
            ":2: column 'y': the byte 0x81 is no character of windows-1252, which "
            "data.csv.encoding asks for");
  auto wide = german();
  wide.encoding = CsvEncoding::utf_16;
  const std::string lone("\xff\xfex\0\n\0\x00\xd8", 8);
  EXPECT_EQ(problem_in(lone, wide), ":2: column 'x': not UTF-16, which data.csv.encoding asks for");
}

TEST(CsvFormats, ReadOtherEncodings) {
  const TemporaryFolder folder;
  CsvFormat windows;
  windows.encoding = CsvEncoding::windows_1252;
  EXPECT_EQ(Csv(folder.write("a.csv", "a\nM\xfcller \x80\n"), windows).cell(0, 0),
            "M\u00fcller \u20ac");
  CsvFormat latin;
  latin.encoding = CsvEncoding::latin_1;
  EXPECT_EQ(Csv(folder.write("b.csv", "a\n\xa4\n"), latin).cell(0, 0), "\u00a4");
  CsvFormat wide;
  wide.encoding = CsvEncoding::utf_16;
  const std::string big("\xfe\xff\0a\0\n\xd8\x3d\xde\x00\0\n", 12);
  EXPECT_EQ(Csv(folder.write("c.csv", big), wide).cell(0, 0), "\U0001f600");
}

TEST(CsvFormats, TakeBlankLinesAtTheEndForNoRows) {
  const TemporaryFolder folder;
  EXPECT_EQ(Csv(folder.write("a.csv", "a,b\r\n1,2\r\n\r\n\r\n")).rows(), 1U);
  EXPECT_EQ(Csv(folder.write("b.csv", "a,b\n1,\n\n\n\n")).rows(), 1U);
  EXPECT_EQ(Csv(folder.write("c.csv", "a\n1\n\n\n")).rows(), 3U) << "cells of one column";
  EXPECT_EQ(problem_in("x,y\n\n1,2\n\n", {}),
            ":2: column 'y': 1 field where the header has 2 (an empty line)");
}

TEST(CsvFormats, NameColumnsAndCountLines) {
  const TemporaryFolder folder;
  CsvFormat format;
  format.duplicate_names = DuplicateNames::number;
  EXPECT_THAT(Csv(folder.write("a.csv", "a,a.1,a,a\n1,2,3,4\n"), format).header(),
              ElementsAre("a", "a.1", "a.2", "a.3"));
  CsvFormat bare;
  bare.header = false;
  const Csv csv(folder.write("b.csv", "1,2\n3,4\n"), bare);
  EXPECT_THAT(csv.header(), ElementsAre("column_1", "column_2"));
  EXPECT_EQ(csv.rows(), 2U);
  EXPECT_EQ(csv.cell(1, 0), "3");
  EXPECT_EQ(problem_in("1,2\nx,4\n", bare).substr(0, 25), ":2: column 'column_1': 'x");
  CsvFormat titled;
  titled.skip_lines = 2;
  EXPECT_EQ(problem_in("made today\n\nx\n1\ny\n", titled).substr(0, 17), ":5: column 'x': '");
}

}  // namespace
}  // namespace ddptrain
