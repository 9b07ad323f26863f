#include "sources/table/date_columns.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "sources/csv_tables.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Names = std::vector<std::string>;

class DateColumns : public testing::Test {
 protected:
  TableOptions options(const std::string& text, std::vector<DateColumn> dates,
                       const std::vector<std::int64_t>& valid) {
    TableOptions made;
    made.file = folder_.write("t.csv", text);
    made.target.column = "y";
    made.dates = std::move(dates);
    made.valid.fraction = {};
    made.valid.rows = valid;
    return made;
  }

  static std::string problem(const TableOptions& options, const std::string& fitted = {}) {
    try {
      test::read_csv_table(options, fitted);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  TemporaryFolder folder_;
};

const std::string kSales =
    "sold_date,shop,y\n"
    "2021-01-31,a,1\n"
    "2021-02-28,b,2\n"
    "2021-03-30,a,3\n"
    "2021-06-30,b,4\n"
    ",a,5\n";

Names names_of(const auto& columns) {
  Names names;
  for (const auto& column : columns) names.push_back(column.name);
  return names;
}

// All are of 2021, and none starts or ends a year or starts a month: such parts are left out.
TEST_F(DateColumns, BecomeTheirPartsThatDiffer) {
  const auto known = kSales.substr(0, kSales.find("\n,") + 1);
  const auto table = test::read_csv_table(options(known, {{"sold_date", {}}}, {3}));
  EXPECT_THAT(names_of(table.fit.categories),
              ElementsAre("shop", "sold_Month", "sold_Dayofweek", "sold_Is_month_end"));
  EXPECT_THAT(names_of(table.fit.continuous),
              ElementsAre("sold_Week", "sold_Day", "sold_Dayofyear", "sold_Elapsed"));
  EXPECT_THAT(table.fit.categories[1].classes, ElementsAre("#na#", "1", "2", "3"));
  EXPECT_THAT(table.fit.categories[3].classes, ElementsAre("#na#", "False", "True"));
  // Days of the year 31, 59 and 89.
  EXPECT_NEAR(table.fit.continuous[2].mean, 179 / 3., 1e-9);
  // June is in no training row.
  EXPECT_EQ(table.splits[1].categories[1], 0);
}

TEST_F(DateColumns, ThatAreMissingAreFilledLikeNumbers) {
  const auto table = test::read_csv_table(options(kSales, {{"sold_date", {}}}, {0}));
  EXPECT_THAT(names_of(table.fit.categories), Contains("sold_Elapsed_na"));
  EXPECT_THAT(names_of(table.fit.categories), Not(Contains("sold_Week_na")));
  EXPECT_THAT(names_of(table.fit.categories), Contains("sold_Is_quarter_end"));
}

TEST_F(DateColumns, AreReadAgainAsTheyWereFitted) {
  auto wanted = options(kSales, {{"sold_date", {}}}, {3});
  wanted.categories = Names{"shop"};
  wanted.continuous = Names{};
  const auto fitted = to_json(test::read_csv_table(wanted).fit, wanted);
  const auto again = test::read_csv_table(wanted, fitted);
  EXPECT_EQ(to_json(again.fit, wanted), fitted);
  auto unlabeled = wanted;
  unlabeled.file = folder_.write("new.csv", "shop,sold_date\na,2021-02-28\nb,soon\n");
  const auto table = test::read_unlabeled_csv(unlabeled, fitted);
  EXPECT_EQ(table.splits[1].categories[1], 2) << "February";
  ASSERT_EQ(table.errors.size(), 1U);
  EXPECT_THAT(table.errors.at(1), HasSubstr("new.csv:3: column 'sold_date': 'soon' is not a date"));
  wanted.dates[0].time = true;
  EXPECT_THAT(problem(wanted, fitted), HasSubstr("data.dates: "));
  wanted.dates.clear();
  EXPECT_THAT(problem(wanted, fitted), HasSubstr("data.dates: "));
}

// A checkpoint of before there were dates has no word of them.
TEST_F(DateColumns, AreNoneInOldCheckpoints) {
  auto plain = options("x,y\n1,2\n3,4\n5,6\n", {}, {2});
  const auto fitted = to_json(test::read_csv_table(plain).fit, plain);
  EXPECT_THAT(fitted, Not(HasSubstr("dates")));
  EXPECT_EQ(problem(plain, fitted), "none");
}

TEST_F(DateColumns, NameWhatIsWrong) {
  EXPECT_THAT(problem(options("d,y\n2021-01-31,1\n31.01.2021,2\n", {{"d", {}}}, {1})),
              HasSubstr("t.csv:3: column 'd': '31.01.2021' is not a date as 2024-03-31 is; "
                        "data.dates gives another format"));
  EXPECT_THAT(problem(options("d,y\n2021-01-31,1\n", {{"d", {"%d.%m.%Y"}}}, {0})),
              HasSubstr("'2021-01-31' is not a date of the form '%d.%m.%Y'"));
  EXPECT_THAT(problem(options("d,y\n2021-01-31,1\n", {{"d", {"%d %Q"}}}, {0})),
              HasSubstr("data.dates: '%Q' in '%d %Q' is no directive"));
  EXPECT_THAT(problem(options(kSales, {{"sold_dat", {}}}, {0})),
              HasSubstr("has no column 'sold_dat'; did you mean 'sold_date'?"));
  EXPECT_EQ(problem(options(kSales, {{"y", {}}}, {0})), "data.dates: 'y' is the target");
  EXPECT_THAT(
      problem(options("date,Year,y\n2021-01-31,7,1\n2022-01-31,8,2\n", {{"date", {}}}, {1})),
      HasSubstr("the part 'Year' of a date is called like another column; rename that"));
}

}  // namespace
}  // namespace ddptrain
