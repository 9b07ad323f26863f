#include "runs/seed_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SeedGroups : public testing::Test {
 protected:
  void add(const std::string& seed, RunStatus status, const std::string& rest = "lr: 1\n") {
    RunRecord run;
    run.name = "net/00" + std::to_string(runs_.size() + 1);
    run.status = status;
    run.result = status == RunStatus::done ? "done" : status_name(status);
    run.began = static_cast<double>(runs_.size() + 1);
    run.options = *RecipeReader().options("seed: " + seed + "\n" + rest);
    runs_.push_back(run);
  }

  std::vector<const RunRecord*> records() const {
    std::vector<const RunRecord*> all;
    for (const auto& run : runs_) all.push_back(&run);
    return all;
  }

  std::vector<RunRecord> runs_;
};

TEST_F(SeedGroups, CountASeedOnceAndFinishedRunsAlone) {
  for (const auto status : {RunStatus::done, RunStatus::done, RunStatus::interrupted})
    add("42", status);
  add("7", RunStatus::done);
  add("8", RunStatus::killed);
  const auto groups = seed_groups(records());
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_THAT(groups[0].runs, ElementsAre(1, 3));
  EXPECT_THAT(groups[0].seeds, ElementsAre("42", "7"));
  EXPECT_EQ(left_out_text(groups[0], records()),
            "; 3 runs left out: net/001 repeats seed 42, net/003 interrupted, net/005 killed");
}

TEST_F(SeedGroups, OfOneSeedAreNoSeeds) {
  for (int i = 0; i < 4; ++i) add("42", RunStatus::done);
  const auto groups = seed_groups(records());
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_THAT(groups[0].seeds, ElementsAre("42"));
  EXPECT_THAT(groups[0].runs, ElementsAre(3));  // the newest
  EXPECT_EQ(groups[0].left_out.size(), 3U);
}

TEST_F(SeedGroups, TakeARunThatFellShortOfWhatWasExpected) {
  add("1", RunStatus::done);
  add("2", RunStatus::failed);
  runs_[1].result = "done";  // exit code 6
  EXPECT_THAT(seed_groups(records())[0].seeds, ElementsAre("1", "2"));
}

TEST_F(SeedGroups, KnowASeedOfTheDataToo) {
  add("1", RunStatus::done, "data_seed: 5\n");
  add("1", RunStatus::done, "data_seed: 6\n");
  add("2", RunStatus::done, "data_seed: 5\nlr: 2\n");
  const auto groups = seed_groups(records());
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_THAT(groups[0].seeds, ElementsAre("1 (data 5)", "1 (data 6)"));
}

TEST_F(SeedGroups, AreNoneOfRunsThatDifferInMore) {
  add("1", RunStatus::done, "lr: 1\n");
  add("2", RunStatus::done, "lr: 2\n");
  EXPECT_THAT(seed_groups(records()), IsEmpty());
}

}  // namespace
}  // namespace ddptrain
