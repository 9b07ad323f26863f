#include "sources/csv/csv_columns.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;

/// The only column of a file.
struct Read {
  Read(const std::string& rows, ColumnKind kind,
       const std::vector<std::string>& missing = pandas_missing())
      : csv(folder.write("a.csv", "x,y\n" + rows)),
        column(read_columns(csv, {0}, {kind}, missing).at(0)) {}
  TemporaryFolder folder;
  Csv csv;
  ColumnCells column;
};

std::string problem(const std::string& rows, ColumnKind kind,
                    const std::vector<std::string>& missing = pandas_missing()) {
  try {
    const Read read(rows, kind, missing);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return std::string(error.what()).substr(std::string(error.what()).find("a.csv") + 5);
  }
  return "none";
}

TEST(CsvColumns, ReadNumbersAsTheyAreWritten) {
  const Read read("7,\n-0.5,\n+3,\n 12 ,\n1e3,\n.25,\n5.,\n123456789012345678,\n1e-400,\n",
                  ColumnKind::automatic);
  EXPECT_EQ(read.column.kind, ColumnKind::numbers);
  EXPECT_THAT(read.column.numbers,
              ElementsAre(7, -0.5, 3, 12, 1000, 0.25, 5, 123456789012345678., 0));
}

/// Numbers of all sizes, with and without carriage returns, at every place of a block of 64 bytes,
/// in more rows than are read at once.
TEST(CsvColumns, ReadTheSameWhateverEndsTheLines) {
  const TemporaryFolder folder;
  constexpr std::size_t rows = 5000;
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  for (const int returns : {0, 1, 2}) {  // in none of the lines, in every second, in all
    std::string text = "first,name,last\n";
    for (std::size_t row = 0; row < rows; ++row) {
      const auto digits = std::string("1234567890").substr(0, row % 10);
      text += digits + ",n" + std::to_string(row % 7) + "," + digits + (row % 11 ? "" : ".5");
      text += static_cast<int>(row % 2) < returns ? "\r\n" : "\n";
    }
    const Csv csv(folder.write("a.csv", text));
    const auto read =
        read_columns(csv, {0, 1, 2}, std::vector(3, ColumnKind::automatic), pandas_missing());
    ASSERT_EQ(read[0].numbers.size(), rows);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto number = row % 10 ? 1234567890 / std::pow(10, 10 - row % 10) : std::nan("");
      const auto whole = std::floor(number);
      const auto last = row % 11 ? whole : row % 10 ? whole + 0.5 : 0.5;
      ASSERT_TRUE(same(read[0].numbers[row], whole)) << row;
      ASSERT_TRUE(same(read[2].numbers[row], last)) << row;
      ASSERT_EQ(read[1].codes[row], row % 7) << row;
    }
  }
}

TEST(CsvColumns, ReadNumbersToTheNearestDouble) {
  const Read read("0.1,\n2.2250738585072014e-308,\n9007199254740993,\n4.35,\n",
                  ColumnKind::numbers);
  EXPECT_THAT(read.column.numbers,
              ElementsAre(0.1, 2.2250738585072014e-308, 9007199254740992, 4.35));
}

TEST(CsvColumns, GiveNamesCodesInOrderOfTheirFirstRow) {
  const Read read("b,\n\"a,\",\nb,\n,\n\"q\"\"\",\n\"a,\",\nNA,\n", ColumnKind::automatic);
  EXPECT_EQ(read.column.kind, ColumnKind::names);
  EXPECT_THAT(read.column.names, ElementsAre("b", "a,", "q\""));
  EXPECT_THAT(read.column.codes, ElementsAre(0, 1, 0, -1, 2, 1, -1));
}

TEST(CsvColumns, TakePandasSpellingsForMissing) {
  for (const auto& spelling : pandas_missing()) {
    const Read read("1,\n\"" + spelling + "\",\n", ColumnKind::automatic);
    ASSERT_EQ(read.column.kind, ColumnKind::numbers) << spelling;
    EXPECT_TRUE(std::isnan(read.column.numbers[1])) << spelling;
  }
  EXPECT_EQ(pandas_missing().size(), 19);  // sorted(pandas._libs.parsers.STR_NA_VALUES)
}

TEST(CsvColumns, TakeANumberForMissingWhereAsked) {
  const Read read("1,\n-999,\n,\n", ColumnKind::numbers, {"", "-999"});
  EXPECT_EQ(read.column.numbers[0], 1);
  EXPECT_TRUE(std::isnan(read.column.numbers[1]));
  EXPECT_TRUE(std::isnan(read.column.numbers[2]));
}

/// Far below the first rows, so that the numbers before it are read again as names.
TEST(CsvColumns, AreNamesWhereOneCellIsNoNumber) {
  std::string rows;
  for (int i = 0; i < 5000; ++i) rows += std::to_string(i % 3) + ",\n";
  const Read read(rows + "1e999,\nx,\n", ColumnKind::automatic);
  EXPECT_THAT(read.column.names, ElementsAre("0", "1", "2", "1e999", "x"));
  ASSERT_EQ(read.column.codes.size(), 5002);
  EXPECT_EQ(read.column.codes[4999], 4999 % 3);
  EXPECT_TRUE(read.column.numbers.empty());
}

TEST(CsvColumns, NameLineAndColumnOfACellThatIsNoNumber) {
  EXPECT_EQ(problem("1,\nmany,\n", ColumnKind::numbers),
            ":3: column 'x': 'many' is not a number; if it stands for a missing one, list it in "
            "data.missing");
  for (const auto* cell : {"0x10", "1,5", "1_0", "--1", "+-1", "1 2", " ", "1e"})
    EXPECT_NE(problem("\"" + std::string(cell) + "\",\n", ColumnKind::numbers), "none") << cell;
}

TEST(CsvColumns, NameLineAndColumnOfANumberThatOverflows) {
  for (const auto* cell : {"1e999", "-1e999", "3.5e38", "inf", "-Infinity"})
    for (const auto kind : {ColumnKind::numbers, ColumnKind::automatic})
      EXPECT_EQ(
          problem("1,\n" + std::string(cell) + ",\n2,\n", kind),
          ":3: column 'x': '" + std::string(cell) + "' is larger than a float can hold (3.4e38)");
}

TEST(CsvColumns, HoldManyNames) {
  std::string rows;
  for (int i = 0; i < 3000; ++i) rows += "name" + std::to_string(i * i % 2000) + ",\n";
  const Read read(rows, ColumnKind::names);
  for (std::size_t i = 0; i < 3000; ++i)
    EXPECT_EQ(read.column.names.at(static_cast<std::size_t>(read.column.codes[i])),
              "name" + std::to_string(i * i % 2000));
}

/// Bare tables are read a shorter way than those with a quote somewhere.
TEST(CsvColumns, AreTheSameInATableWithQuotes) {
  std::string rows;
  for (std::int64_t i = 0, number = 1; i < 3000; ++i, number = number * 7 % 1000000007)
    rows += std::to_string(number % 1000000000 >> i % 30) + ",\n";
  for (const auto kind : {ColumnKind::numbers, ColumnKind::names}) {
    const Read bare(rows, kind), quoted(rows + "1,\"\"\n", kind);
    ASSERT_EQ(bare.csv.rows() + 1, quoted.csv.rows());
    for (std::size_t row = 0; row < bare.csv.rows(); ++row) {
      const auto cell = bare.csv.at(row, 0);
      for (const auto* read : {&bare, &quoted})
        if (kind == ColumnKind::numbers)
          ASSERT_EQ(read->column.numbers.at(row), std::stod(cell)) << row;
        else
          ASSERT_EQ(read->column.names.at(std::size_t(read->column.codes.at(row))), cell) << row;
    }
  }
}

/// Of every length, alike but for one letter at any place.
TEST(CsvColumns, TellNamesApartByEveryLetter) {
  std::string rows;
  std::vector<std::string> names;
  for (std::size_t size = 1; size < 40; ++size)
    for (std::size_t at = 0; at <= size; ++at) {
      names.emplace_back(size, 'a');
      if (at < size) names.back()[at] = 'b';
      rows += names.back() + ",\n";
    }
  const Read read(rows + rows, ColumnKind::names);
  EXPECT_THAT(read.column.names, testing::ElementsAreArray(names));
  for (std::size_t row = 0; row < 2 * names.size(); ++row)
    EXPECT_EQ(read.column.codes.at(row), static_cast<std::int32_t>(row % names.size()));
}

}  // namespace
}  // namespace ddptrain
