#include "sources/csv/csv.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

const std::string kOtherEncoding =
    "; save the file as UTF-8, or write 'data.csv.encoding: windows-1252' where Windows saved it";

using testing::HasSubstr;

/// What is wrong with a text, after the file's name.
std::string problem(std::string_view text) {
  const TemporaryFolder folder;
  const auto path = folder.write("a.csv", text);
  try {
    Csv csv(path);
    csv.required_column("path");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return std::string(error.what()).substr(path.size());
  }
  return "none";
}

TEST(Csv, ReadsQuotedFieldsLineEndsAndAByteOrderMark) {
  const TemporaryFolder folder;
  const Csv csv(
      folder.write("a.csv", "\xef\xbb\xbfpath,label\r\n\"a, \"\"b\"\".jpg\",\"two\nlines\"\nc,\n"));
  ASSERT_EQ(csv.rows(), 2);
  EXPECT_EQ(csv.at(0, csv.required_column("path")), "a, \"b\".jpg");
  EXPECT_EQ(csv.at(0, 1), "two\nlines");
  EXPECT_EQ(csv.at(1, 1), "");
  EXPECT_FALSE(csv.column("weight"));
  try {
    csv.fail(1, 1, "empty");
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a.csv:4: column 'label': empty"));
  }
}

TEST(Csv, NamesWhatIsWrongAndWhere) {
  EXPECT_EQ(problem("path,label\na,b\nc\n"), ":3: column 'label': 1 field where the header has 2");
  EXPECT_EQ(problem("path,label\na,b,c\n"), ":2: column 3: 3 fields where the header has 2");
  EXPECT_EQ(problem("path,label\n\na,b\n"),
            ":2: column 'label': 1 field where the header has 2 (an empty line)");
  EXPECT_EQ(problem("path,label\na,\"b\"c\n"), ":2: column 'label': text after the closing quote");
  EXPECT_EQ(problem("path,label\na,b\"c\n"),
            ":2: column 'label': a quote inside of an unquoted field");
  EXPECT_EQ(problem("path,label\na, \"b\"\n"),
            ":2: column 'label': a quote inside of an unquoted field");
  EXPECT_EQ(problem("path,label\ra,b\r"),
            ":1: column 2: a carriage return that ends no line; end lines in LF or CR LF, or quote "
            "the field");
}

TEST(Csv, SaysWhereAnUnclosedQuoteOpened) {
  EXPECT_EQ(problem("path,\"a \"\"b\"\"\"\na,\"b\n"),
            ":2: column 'a \"b\"': a quote that is not closed");
  EXPECT_EQ(problem("path,label\na,\"b\n"), ":2: column 'label': a quote that is not closed");
  EXPECT_EQ(problem("path,label\n\"x\ny\",b\n\"a\"\"\nc,d\ne,f\n"),
            ":4: column 'path': a quote that is not closed");
  EXPECT_EQ(problem("\"path,label\na,b\n"), ":1: column 1: a quote that is not closed");
}

TEST(Csv, NamesWhatIsWrongWithAHeader) {
  EXPECT_EQ(problem("label,path,label\na,b,c\n"),
            ":1: columns 1 and 3 are both called 'label'; rename one, or write "
            "'data.csv.duplicate_names: number'");
  EXPECT_EQ(problem("file,label\na,b\n"), ":1: no column 'path'; there are 'file', 'label'");
  EXPECT_EQ(problem("path,label\n"), ": no rows below the header");
  EXPECT_EQ(problem("path,label"), ": no rows below the header");
  EXPECT_EQ(problem("\xef\xbb\xbf"), ": no header");
}

TEST(Csv, HasAtMostAMillionColumns) {
  const auto columns = [](int count) {
    std::string names = "path";
    for (int i = 1; i < count; ++i) names += "," + std::to_string(i);
    return names + "\n" + std::string(static_cast<std::size_t>(count - 1), ',') + "\n";
  };
  EXPECT_EQ(problem(columns(1'000'000)), "none");
  EXPECT_EQ(problem(columns(1'000'001)), ":1: 1000001 columns, at most 1000000 are read");
}

TEST(Csv, RefusesAnEmptyFile) {
  const TemporaryFolder folder;
  const auto path = folder.write("a.csv", "");
  try {
    Csv csv(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "'" + path + "' is empty");
  }
}

TEST(Csv, NamesLineAndColumnOfBytesThatAreNoText) {
  EXPECT_EQ(problem("path,label\na,b\n\"c\nd\",\xe9t\xe9\n"),
            ":4: column 'label': the byte 0xe9 is not UTF-8" + kOtherEncoding);
  EXPECT_EQ(problem("p\xfcth,label\na,b\n"),
            ":1: column 1: the byte 0xfc is not UTF-8" + kOtherEncoding);
  EXPECT_EQ(problem(std::string_view("path,label\na,b\0\n", 16)), ":2: column 'label': a NUL byte");
  for (const auto* mark : {"\xff\xfe", "\xfe\xff"})
    EXPECT_EQ(problem(std::string(mark) + "p"),
              ":1: column 1: UTF-16 text, as its byte order mark says; write "
              "'data.csv.encoding: utf-16', or save it as UTF-8");
}

TEST(Csv, KeepsBlanksEmptyCellsAndTheLastLineWithoutAnEnd) {
  const TemporaryFolder folder;
  const Csv csv(folder.write("a.csv", "a,b,c\n x ,,\"\"\n,\"\"\"\",\" \"\r\n1,2,3"));
  const std::vector<std::vector<std::string>> expected{
      {" x ", "", ""}, {"", "\"", " "}, {"1", "2", "3"}};
  ASSERT_EQ(csv.rows(), expected.size());
  for (std::size_t row = 0; row < csv.rows(); ++row)
    for (std::size_t column = 0; column < 3; ++column)
      EXPECT_EQ(csv.cell(row, column), expected[row][column]) << row << " " << column;
}

TEST(Csv, OfOneColumnMayHaveEmptyLines) {
  const TemporaryFolder folder;
  const Csv csv(folder.write("a.csv", "a\n\nb\n"));
  ASSERT_EQ(csv.rows(), 2);
  EXPECT_EQ(csv.at(0, 0), "");
  EXPECT_EQ(csv.at(1, 0), "b");
}

/// Cells of every length at every place of an eight-byte word, some quoted.
TEST(Csv, ReadsCellsWhereverTheyStand) {
  const TemporaryFolder folder;
  std::string text = "a,b,c\n";
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < 3 * 400; ++i) {
    const std::string cell(i * 7 % 23, static_cast<char>('a' + i % 26));
    expected.push_back(i % 5 == 0 ? cell + "\",\r\n" + cell : cell);
    text += i % 5 == 0 ? "\"" + cell + "\"\",\r\n" + cell + "\"" : cell;
    text += i % 3 < 2 ? "," : i % 2 == 0 ? "\n" : "\r\n";
  }
  const Csv csv(folder.write("a.csv", text));
  ASSERT_EQ(csv.rows(), 400);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(csv.cell(i / 3, i % 3), expected[i]) << i;
}

/// A quoted cell longer than a block of the index, CR LF on either side of a block's border, and
/// more cells than the first rows let expect.
TEST(Csv, ReadsLongQuotedCellsAndManyRows) {
  const TemporaryFolder folder;
  std::string text = "a,b\r\n";
  std::vector<std::string> expected;
  for (std::size_t row = 0; row < 300; ++row) {
    expected.emplace_back(row, '\n');
    text += "\"" + expected.back() + "\"," + std::to_string(row) + "\r\n";
  }
  constexpr std::size_t rows = 30000;
  for (std::size_t row = 300; row < rows; ++row) text += "," + std::to_string(row % 10) + "\n";
  const Csv csv(folder.write("a.csv", text));
  ASSERT_EQ(csv.rows(), rows);
  for (std::size_t row = 0; row < rows; ++row) {
    ASSERT_EQ(csv.cell(row, 0), row < 300 ? expected[row] : "") << row;
    ASSERT_EQ(csv.cell(row, 1), std::to_string(row < 300 ? row : row % 10)) << row;
  }
}

TEST(Csv, NamesBytesThatAreNoTextBeforeAllElse) {
  EXPECT_EQ(problem("path,label\na\n" + std::string(200, 'x') + ",\xff\n"),
            ":3: column 'label': the byte 0xff is not UTF-8" + kOtherEncoding);
  EXPECT_EQ(problem("path,label\na,b\"\n" + std::string(200, 'x') + ",\"\xff\"\n"),
            ":3: column 'label': the byte 0xff is not UTF-8" + kOtherEncoding);
}

TEST(Csv, KnowsOtherRareBytesBeforeALineFeedFromCarriageReturns) {
  EXPECT_EQ(problem("path,label\r\na,b\"\nc,d\r\n" + std::string(200, 'x') + ",y\n"),
            ":2: column 'label': a quote inside of an unquoted field");
  EXPECT_EQ(problem("path,label\r\na,b\xff\nc,d\r\n" + std::string(200, 'x') + ",y\n"),
            ":2: column 'label': the byte 0xff is not UTF-8" + kOtherEncoding);
}

TEST(Csv, EndsRowsInCarriageReturnsOnlyBeforeALineFeedOrTheEnd) {
  const TemporaryFolder folder;
  const Csv csv(folder.write("a.csv", "a,b\r\n1,\r\n2,\"x\"\r\n3,y\r"));
  ASSERT_EQ(csv.rows(), 3);
  EXPECT_EQ(csv.cell(0, 1), "");
  EXPECT_EQ(csv.cell(1, 1), "x");
  EXPECT_EQ(csv.cell(2, 1), "y");
  EXPECT_EQ(problem("path,label\r\n\r\na,b\r\n"),
            ":2: column 'label': 1 field where the header has 2 (an empty line)");
}

}  // namespace
}  // namespace ddptrain
