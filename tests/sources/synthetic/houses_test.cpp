#include "sources/synthetic/houses.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

TEST(Houses, AreTheSameBytesForTheSameSeed) {
  EXPECT_EQ(houses_csv({.seed = 7, .rows = 50}), houses_csv({.seed = 7, .rows = 50}));
  EXPECT_NE(houses_csv({.seed = 7, .rows = 50}), houses_csv({.seed = 8, .rows = 50}));
  EXPECT_TRUE(houses_csv({.rows = 60}).starts_with(houses_csv({.rows = 50})))
      << "a row depends on nothing but its number";
}

TEST(Houses, HaveAPriceWithinItsRangeInEveryRow) {
  const auto lines = split(houses_csv(), '\n');
  ASSERT_EQ(lines.size(), 4002);
  int without_year = 0;
  for (std::size_t i = 1; i <= 4000; ++i) {
    const auto cells = split(lines[i], ',');
    ASSERT_EQ(cells.size(), 7) << lines[i];
    const auto price = parse_integer(cells[6]);
    ASSERT_TRUE(price && *price >= 50 && *price <= 950) << lines[i];
    without_year += cells[2].empty();
  }
  EXPECT_NEAR(without_year, 4000 / 15, 80);  // five deviations
}

TEST(Houses, AreWrittenOnceAndReplaceNothing) {
  const TemporaryFolder folder;
  const auto to = folder.path() + "/new";
  EXPECT_TRUE(make_houses(to, {.rows = 20}));
  EXPECT_EQ(read_text(to + "/houses.csv"), houses_csv({.rows = 20}));
  EXPECT_FALSE(make_houses(to, {.rows = 20}));
  EXPECT_THROW(make_houses(to, {.rows = 21}), Error);
  EXPECT_EQ(read_text(to + "/houses.csv"), houses_csv({.rows = 20}));
}

}  // namespace
}  // namespace ddptrain
