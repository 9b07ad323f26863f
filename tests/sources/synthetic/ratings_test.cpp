#include "sources/synthetic/ratings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

TEST(MadeRatings, AreStepsOfAHalfOfPairsThatAreThereOnce) {
  const auto lines = split(ratings_csv({.rows = 3000}), '\n');
  ASSERT_EQ(lines.size(), 3002);
  EXPECT_EQ(lines[0], "user,item,rating");
  std::set<std::string> pairs;
  double sum = 0;
  for (std::size_t i = 1; i <= 3000; ++i) {
    const auto cells = split(lines[i], ',');
    ASSERT_EQ(cells.size(), 3);
    EXPECT_TRUE(pairs.insert(cells[0] + "," + cells[1]).second) << lines[i];
    const auto rating = *parse_number(cells[2]);
    EXPECT_TRUE(rating >= 0.5 && rating <= 5 && std::floor(2 * rating) == 2 * rating) << lines[i];
    sum += rating;
  }
  EXPECT_NEAR(sum / 3000, 3.2, 0.15);
}

// A user's ratings of the same item differ by taste, so the mean of an item explains only a part.
TEST(MadeRatings, FollowFromUserAndItemTogether) {
  const RatingsOptions all{.seed = 2, .rows = 2000, .users = 50, .items = 40};
  std::map<std::string, std::vector<double>> of_item;
  const auto lines = split(ratings_csv(all), '\n');
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    const auto cells = split(lines[i], ',');
    of_item[cells[1]].push_back(*parse_number(cells[2]));
  }
  EXPECT_EQ(of_item.size(), 40U);
  double within = 0;
  for (const auto& [item, ratings] : of_item) {
    ASSERT_EQ(ratings.size(), 50U) << "all pairs are there";
    double mean = 0;
    for (const double rating : ratings) mean += rating / 50;
    for (const double rating : ratings) within += (rating - mean) * (rating - mean) / 2000;
  }
  EXPECT_GT(within, 0.3) << "users have tastes";
  EXPECT_LT(within, 1.2);
}

TEST(MadeRatings, AreWrittenOnceAndReplaceNothing) {
  const TemporaryFolder folder;
  const RatingsOptions few{.rows = 50};
  EXPECT_TRUE(make_ratings(folder / "r", few));
  EXPECT_EQ(read_text(folder / "r/ratings.csv"), ratings_csv(few));
  EXPECT_FALSE(make_ratings(folder / "r", few));
  EXPECT_THROW(make_ratings(folder / "r", {.rows = 51}), Error);
  EXPECT_THROW(ratings_csv({.rows = 5, .users = 2, .items = 2}), Error);
}

}  // namespace
}  // namespace ddptrain
