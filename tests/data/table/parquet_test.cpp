#include "sources/table/parquet_source.h"

#include <gmock/gmock.h>

#include <random>

#include "base/error.h"
#include "base/files/files.h"
#include "data/dataset.h"
#include "sources/csv_tables.h"
#include "support/temporary_folder.h"
#include "support/where.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;

std::string parquet(const std::string& name) {
  return test::in_source("tests/golden/parquet/" + name);
}

TableOptions people(const std::string& file) {
  TableOptions options;
  options.file = file;
  options.target.column = "income";
  options.valid.fraction = {};
  options.valid.column = "split";
  options.missing.value = {""};
  return options;
}

std::string problem_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "none";
}

void expect_same(const TableRows& a, const TableRows& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.categories, b.categories);
  EXPECT_EQ(a.continuous, b.continuous);
  EXPECT_EQ(a.labels, b.labels);
}

class ParquetOf : public testing::TestWithParam<const char*> {};

// The files and the CSV file are pandas': tests/golden/parquet/make.py.
TEST_P(ParquetOf, PeopleGivesWhatItsCsvFileGives) {
  const auto options = people(parquet("people.csv"));
  const auto csv = test::read_csv_table(options);
  const ParquetSource source(parquet(GetParam()));
  const auto table = read_table(source, options);
  EXPECT_EQ(to_json(table.fit, options), to_json(csv.fit, options));
  for (const std::size_t split : {0, 1}) expect_same(table.splits[split], csv.splits[split]);
  EXPECT_EQ(table.splits[0].rows.size() + table.splits[1].rows.size(), 60);
}

INSTANTIATE_TEST_SUITE_P(Codecs, ParquetOf,
                         testing::Values("people_none.parquet", "people_snappy.parquet",
                                         "people_gzip.parquet", "people_zstd.parquet"));

TEST(Parquet, NumbersMayBeCategories) {
  auto options = people(parquet("people.csv"));
  options.categories.value = {"code", "hours", "price", "since"};
  options.continuous.value = {"age"};
  const auto csv = test::read_csv_table(options);
  const auto table = read_table(ParquetSource(parquet("people_snappy.parquet")), options);
  // pandas writes the decimal 5.00 to CSV with its zeros, which a number does not have.
  EXPECT_EQ(table.fit.categories[0].classes, csv.fit.categories[0].classes);
  EXPECT_EQ(table.fit.categories[1].classes, csv.fit.categories[1].classes);
  EXPECT_EQ(table.fit.categories[3].classes, csv.fit.categories[3].classes);
}

TEST(Parquet, CellsOfNumbersMayStandForMissingOnes) {
  const ParquetSource source(parquet("people_snappy.parquet"));
  const auto code = *source.column("code");
  const auto all = source.read_columns({code}, {ColumnKind::numbers}, {})[0].numbers;
  const auto some = source.read_columns({code}, {ColumnKind::numbers}, {"2"})[0].numbers;
  for (std::size_t row = 0; row < all.size(); ++row)
    EXPECT_EQ(std::isnan(some[row]), all[row] == 2);
}

TEST(Parquet, NamesRowAndColumnOfTextThatIsNoNumber) {
  auto options = people(parquet("people_snappy.parquet"));
  options.continuous.value = {"home"};
  EXPECT_THAT(problem_of([&] { read_table(ParquetSource(options.file), options); }),
              HasSubstr("people_snappy.parquet: row 0, column 'home': 'own' is not a number"));
}

TEST(Parquet, RefusesListsUnlessTheyAreDropped) {
  const ParquetSource source(parquet("nested.parquet"));
  TableOptions options;
  options.target.column = "income";
  EXPECT_THAT(problem_of([&] { read_table(source, options); }),
              HasSubstr("nested.parquet: column 'tags' holds list<"));
  options.drop = {"tags"};
  EXPECT_THAT(read_table(source, options).fit.continuous[0].name, "age");
}

TEST(Parquet, RefusesATableWithoutRows) {
  EXPECT_EQ(problem_of([] { ParquetSource source(parquet("empty.parquet")); }),
            parquet("empty.parquet") + ": no rows");
}

TEST(Parquet, RefusesWhatIsNoParquetFile) {
  EXPECT_THAT(problem_of([] { ParquetSource source(parquet("people.csv")); }),
              HasSubstr("people.csv' cannot be read as Parquet: "));
}

TEST(Parquet, AFileCutAnywhereIsAnError) {
  const TemporaryFolder folder;
  const auto whole = read_text(parquet("people_snappy.parquet"));
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    const auto file = folder.write("cut.parquet", whole.substr(0, size));
    EXPECT_NE(problem_of([&] { read_table(ParquetSource(file), people(file)); }), "none") << size;
  }
}

// Whatever is damaged is found, or does not matter: nothing crashes.
TEST(Parquet, ADamagedFileIsReadOrRefused) {
  const TemporaryFolder folder;
  const auto whole = read_text(parquet("people_zstd.parquet"));
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    auto damaged = whole;
    for (int change = 0; change < 3; ++change)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto file = folder.write("damaged.parquet", damaged);
    try {
      read_table(ParquetSource(file), people(file));
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == Exit::data || error.code() == Exit::recipe) << error.what();
    }
  }
}

}  // namespace
}  // namespace ddptrain
