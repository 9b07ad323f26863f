#include "jobs/sweep/sweep_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files/files.h"
#include "base/text.h"
#include "support/numbers.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

RunValue value(std::int64_t trial, std::int64_t rung, double metric, std::int64_t steps,
               bool ended = true) {
  RunValue found;
  found.key = {{trial, rung}, 0};
  found.value = found.best = metric;
  found.steps = steps;
  found.ended = ended;
  return found;
}

RunValue failure(std::int64_t trial, int code) {
  auto found = value(trial, 0, std::nan(""), 3);
  found.code = code;
  found.error = "it, \"fell\"";
  return found;
}

/// Three trials of one option.
SweepPlan three(BestMode mode = BestMode::max) {
  SweepPlan plan;
  for (const std::string text : {"1", "2", "3"}) {
    plan.spec.keys["seed"].values.push_back(Node::scalar(text));
    plan.trials.push_back({{{"seed", text}}, {}});
  }
  plan.watched = {"valid/x", mode};
  plan.halving.trials = 3;
  return plan;
}

SweepRecord record_in(const TemporaryFolder& folder, const std::string& written = "a") {
  return SweepRecord(sweep_folder(folder.path(), "name", written, "recipe: 1\n"));
}

std::vector<std::int64_t> order(const std::vector<SweepTrialResult>& rows) {
  std::vector<std::int64_t> trials;
  for (const auto& row : rows) trials.push_back(row.number);
  return trials;
}

TEST(SweepTable, HasTheBestFirstAndFailuresLast) {
  const TemporaryFolder folder;
  auto record = record_in(folder);
  record.add(value(0, 0, 0.5, 9));
  record.add(failure(1, 5));
  record.add(value(2, 0, 0.7, 9));
  EXPECT_EQ(order(sweep_trials(three(), record)), (std::vector<std::int64_t>{3, 1, 2}));
  EXPECT_EQ(order(sweep_trials(three(BestMode::min), record)),
            (std::vector<std::int64_t>{1, 3, 2}));
  EXPECT_EQ(sweep_trials(three(), record)[2].state, "failed");
  const auto text = write_tables(three(), record);
  EXPECT_THAT(text, testing::HasSubstr("trial 2 failed: it, \"fell\"\n"));
  EXPECT_EQ(read_text(record.folder() + "/trials.txt"), text);
  EXPECT_EQ(read_text(record.folder() + "/trials.csv"),
            "rank,trial,seed,valid/x,deviation,best,rung,steps,state,runs,error,weights\n"
            "1,3,3,0.7,,0.7,0,9,done,003,,last weights\n"
            "2,1,1,0.5,,0.5,0,9,done,001,,last weights\n"
            "3,2,2,,,,0,3,failed,002,\"it, \"\"fell\"\"\",last weights\n");
  const auto written = nlohmann::json::parse(read_text(record.folder() + "/trials.json"));
  EXPECT_EQ(written["trials"][0]["values"]["seed"], "3");
  EXPECT_TRUE(written["trials"][2]["value"].is_null());
  EXPECT_EQ(written["importance"]["seed"], 1);  // each value has a trial of its own
}

TEST(SweepTable, CutsNoNumberAtAnyWidth) {
  const TemporaryFolder folder;
  auto record = record_in(folder);
  record.add(value(0, 0, 1.0771234e-05, 123456));
  record.add(value(1, 0, 107712.34, 123456));
  record.add(value(2, 0, -0.98765, 123456));
  for (const bool keeps : {false, true}) {
    auto plan = three();
    plan.keeps_best = keeps;
    const auto wide = table_text(plan, record, 0);
    for (std::size_t columns = 20; columns <= 90; ++columns) {
      const auto text = table_text(plan, record, columns);
      EXPECT_TRUE(test::broken_numbers(text, wide).empty()) << columns << ":\n" << text;
      for (const auto& line : split(text, '\n')) EXPECT_LE(line.size(), columns) << line;
    }
  }
}

TEST(SweepTable, RanksByHowFarATrialCameUnderHalving) {
  const TemporaryFolder folder;
  auto record = record_in(folder);
  auto plan = three();
  plan.halving.lengths = {1.0 / 3, 1};
  record.add(value(0, 0, 0.4, 3, false));
  record.add(value(1, 0, 0.9, 3, false));
  record.add(value(2, 0, 0.8, 3, false));
  record.add(value(2, 1, 0.6, 9));
  const auto rows = sweep_trials(plan, record);
  EXPECT_EQ(order(rows), (std::vector<std::int64_t>{3, 2, 1}));
  EXPECT_EQ(rows[0].steps, 9);
  EXPECT_EQ(rows[0].state, "done");
  EXPECT_EQ(rows[1].state, "stopped");
}

// 0.5, 0.9 and 1 have the mean 0.8 and the deviation sqrt(0.07).
TEST(SweepTable, AveragesSeeds) {
  const TemporaryFolder folder;
  auto record = record_in(folder);
  auto plan = three();
  plan.spec.seeds = 3;
  const std::vector<double> metrics{0.5, 0.9, 1};
  for (std::int64_t seed = 0; seed < 3; ++seed) {
    EXPECT_FALSE(job_value(plan, record, {0, 0}));
    auto run = value(0, 0, metrics[static_cast<std::size_t>(seed)], 9);
    run.key.seed = seed;
    record.add(run);
  }
  EXPECT_DOUBLE_EQ(*job_value(plan, record, {0, 0}), 0.8);
  const auto row = sweep_trials(plan, record)[0];
  EXPECT_DOUBLE_EQ(row.deviation, std::sqrt(0.07));
  EXPECT_EQ(row.steps, 27);
  EXPECT_EQ(row.runs, (std::vector<std::string>{"001-1", "001-2", "001-3"}));
}

TEST(SweepRecord, GoesOnUntilItIsDone) {
  const TemporaryFolder folder;
  auto record = record_in(folder);
  record.add(value(0, 0, 1.0 / 3, 9));
  record.add(failure(1, 3));  // is tried again
  record.add(failure(2, 5));  // diverges again
  auto again = record_in(folder);
  EXPECT_EQ(again.folder(), record.folder());
  ASSERT_EQ(again.values().size(), 2U);
  EXPECT_EQ(again.find({{0, 0}, 0})->value, 1.0 / 3);
  EXPECT_TRUE(std::isnan(again.find({{2, 0}, 0})->value));
  EXPECT_NE(record_in(folder, "b").folder(), record.folder());
  again.finish();
  EXPECT_NE(record_in(folder).folder(), record.folder());
  EXPECT_TRUE(record.folder().ends_with("/name/sweep-001"));
}

}  // namespace
}  // namespace ddptrain
