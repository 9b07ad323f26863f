#include "jobs/sweep/importance.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ddptrain {
namespace {

/// A grid of two options with the values 0 and 1 each.
std::vector<TrialOutcome> grid(double (*metric)(double, double), bool first) {
  std::vector<TrialOutcome> trials;
  for (const double a : {0, 1})
    for (const double b : {0, 1})
      trials.push_back({std::to_string(first ? a : b), first ? a : b, metric(a, b)});
  return trials;
}

double share(double (*metric)(double, double), bool first) {
  return explained_share(grid(metric, first), false);
}

// First-order shares of the variance of f(a, b), a and b fair coins (Sobol' 1993).
TEST(Importance, IsTheFirstOrderShareOfTheVariance) {
  const auto only_a = [](double a, double) { return a; };
  const auto both = [](double a, double b) { return a + b; };
  const auto more_a = [](double a, double b) { return 2 * a + b; };
  const auto either = [](double a, double b) { return a == b ? 1.0 : 0.0; };
  EXPECT_DOUBLE_EQ(share(only_a, true), 1);
  EXPECT_DOUBLE_EQ(share(only_a, false), 0);
  EXPECT_DOUBLE_EQ(share(both, true), 0.5);
  EXPECT_DOUBLE_EQ(share(more_a, true), 0.8);
  EXPECT_DOUBLE_EQ(share(more_a, false), 0.2);
  EXPECT_DOUBLE_EQ(share(either, true), 0);  // an interaction alone
}

// The metric is the number itself, 0 to 7. Means of the pairs are 0.5, 2.5, 4.5, 6.5, their
// variance 5; that of the numbers is 5.25.
TEST(Importance, GroupsARangeByQuartiles) {
  std::vector<TrialOutcome> trials;
  for (const double x : {3, 0, 7, 1, 6, 2, 5, 4}) trials.push_back({"", x, x});
  EXPECT_DOUBLE_EQ(explained_share(trials, true), 5 / 5.25);
}

TEST(Importance, IsUnknownWhereNothingVaries) {
  EXPECT_TRUE(std::isnan(explained_share({{"a", 0, 1}, {"b", 0, 1}}, false)));
  EXPECT_TRUE(std::isnan(explained_share({{"a", 0, 1}, {"b", 0, std::nan("")}}, false)));
  EXPECT_TRUE(std::isnan(explained_share({}, true)));
}

}  // namespace
}  // namespace ddptrain
