#include "jobs/sweep/asha.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace ddptrain {
namespace {

using Jobs = std::vector<TrialJob>;

/// Everything that a sweep does, in the order in which jobs end: of those under way any may.
Jobs all_jobs(const HalvingPlan& plan, const std::function<double(const TrialJob&)>& value,
              unsigned seed = 0) {
  std::map<TrialJob, double> known;
  std::mt19937 random(seed);
  Jobs ended;
  const auto look = [&](const TrialJob& job) -> std::optional<double> {
    const auto found = known.find(job);
    return found == known.end() ? std::nullopt : std::optional(found->second);
  };
  for (Jobs now; !(now = jobs_under_way(plan, look)).empty();) {
    EXPECT_LE(std::ssize(now), plan.workers);
    const auto& job = now[random() % now.size()];
    known[job] = value(job);
    ended.push_back(job);
  }
  return ended;
}

double length_of(const HalvingPlan& plan, const Jobs& jobs) {
  double length = 0;
  for (const auto& job : jobs) {
    const auto rung = static_cast<std::size_t>(job.rung);
    length += plan.lengths[rung] - (rung > 0 ? plan.lengths[rung - 1] : 0);
  }
  return length;
}

// Li et al. 2020, figures 1 and 2: n = 9, r = 1, R = 9, eta = 3, one worker; configurations 1, 6
// and 8 are promoted to rung 1, and 8 to rung 2. Here they count from 0.
TEST(Asha, PromotesAsInThePapersExample) {
  const std::vector<double> first{9, 1, 2, 3, 4, 8, 5, 7, 6};
  const HalvingPlan plan{9, {1.0 / 9, 1.0 / 3, 1}, 3, 1};
  const auto jobs = all_jobs(plan, [&](const TrialJob& job) {
    if (job.rung > 0) return job.trial == 7 ? 1.0 : 0.0;
    return first[static_cast<std::size_t>(job.trial)];
  });
  const Jobs expected{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {3, 0}, {4, 0}, {5, 0},
                      {5, 1}, {6, 0}, {7, 0}, {8, 0}, {7, 1}, {7, 2}};
  EXPECT_EQ(jobs, expected);
}

TEST(Asha, HasTheRungsOfTheFactor) {
  EXPECT_EQ(rung_lengths(0.25, 2), (std::vector<double>{0.25, 0.5, 1}));
  EXPECT_EQ(rung_lengths(0.4, 3), (std::vector<double>{0.4, 1}));
  ASSERT_EQ(rung_lengths(1.0 / 27, 3).size(), 4U);
}

TEST(Asha, TakesTheSameDecisionsInWhateverOrderJobsEnd) {
  for (const int workers : {1, 2, 3, 5}) {
    HalvingPlan plan{20, rung_lengths(1.0 / 9, 3), 3, workers};
    // Ranks of the trials change from rung to rung.
    const auto value = [](const TrialJob& job) {
      return std::sin(static_cast<double>(7 * job.trial + 3 * job.rung));
    };
    auto first = all_jobs(plan, value, 1), second = all_jobs(plan, value, 2);
    std::sort(first.begin(), first.end());
    std::sort(second.begin(), second.end());
    EXPECT_EQ(first, second) << workers;
  }
}

TEST(Asha, FindsTheBestOf27WithUnder45PercentOfTheGridWhereRanksStay) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<double> values(27);
    std::mt19937 random(seed);
    for (auto& value : values) value = std::uniform_real_distribution<>()(random);
    const auto best = std::max_element(values.begin(), values.end()) - values.begin();
    HalvingPlan plan{27, rung_lengths(1.0 / 9, 3), 3, 2};
    const auto jobs = all_jobs(
        plan, [&](const TrialJob& job) { return values[static_cast<std::size_t>(job.trial)]; });
    EXPECT_NE(std::find(jobs.begin(), jobs.end(), TrialJob{best, 2}), jobs.end()) << seed;
    EXPECT_LE(length_of(plan, jobs), 0.45 * 27) << seed;
  }
}

TEST(Asha, TrainsTheBestOfFewToTheEnd) {
  const HalvingPlan plan{2, rung_lengths(1.0 / 9, 3), 3, 2};
  const auto jobs = all_jobs(plan, [](const TrialJob& job) { return double(job.trial); });
  EXPECT_EQ(jobs.size(), 4U);
  EXPECT_EQ(jobs.back(), (TrialJob{1, 2}));
  // What fails on the way makes room for the next best.
  const auto failing = all_jobs(plan, [](const TrialJob& job) {
    return job == TrialJob{1, 1} ? std::nan("") : double(job.trial);
  });
  EXPECT_EQ(failing.back(), (TrialJob{0, 2}));
}

TEST(Asha, NeverPromotesWhatFailed) {
  HalvingPlan plan{9, rung_lengths(1.0 / 9, 3), 3, 1};
  const auto jobs = all_jobs(plan, [](const TrialJob&) { return std::nan(""); });
  EXPECT_EQ(jobs.size(), 9U);
  for (const auto& job : jobs) EXPECT_EQ(job.rung, 0);
}

TEST(Asha, TrainsEveryTrialWhereThereIsOneRung) {
  HalvingPlan plan{5, {1}, 3, 2};
  const auto jobs = all_jobs(
      plan, [](const TrialJob& job) { return double(job.trial); }, 3);
  EXPECT_EQ(jobs.size(), 5U);
  // No trial waits for a slow one: while the first is under way, the others continue.
  const auto later = jobs_under_way(
      plan, [](const TrialJob& job) { return job.trial == 0 ? std::nullopt : std::optional(1.0); });
  EXPECT_EQ(later, (Jobs{{0, 0}}));
}

}  // namespace
}  // namespace ddptrain
