#include "runs/run_record.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using Json = nlohmann::json;

Json record(const Json& more) {
  Json json{{"name", "quick"},      {"began", "2026-01-01T00:00:00Z"},
            {"ended", nullptr},     {"result", nullptr},
            {"exit_code", nullptr}, {"metrics", Json::object()},
            {"best", nullptr}};
  json.update(more);
  return json;
}

class RunRecords : public testing::Test {
 protected:
  RunRecord of(const Json& json) {
    folder_.write("quick/003/run.json", json.dump());
    return read_run_record(folder_ / "quick/003");
  }
  const TemporaryFolder folder_;
};

TEST_F(RunRecords, TellWhatARunCameTo) {
  const auto run = of(record({{"result", "done"},
                              {"exit_code", 0},
                              {"ended", "2026-01-01T01:00:00Z"},
                              {"device", "cpu"},
                              {"metrics", {{"valid/loss", 0.5}, {"valid/accuracy", nullptr}}},
                              {"best",
                               {{"metric", "valid/loss"},
                                {"mode", "min"},
                                {"step", 40},
                                {"metrics", {{"valid/loss", 0.25}}}}}}));
  EXPECT_EQ(run.name, "quick/003");
  EXPECT_EQ(run.recipe, "quick");
  EXPECT_EQ(run.status, RunStatus::done);
  EXPECT_EQ(run.ended - run.began, 3600);
  EXPECT_EQ(run.began, 1767225600);  // date -d 2026-01-01T00:00:00Z +%s
  EXPECT_EQ(value_named(run.metrics, "valid/loss"), 0.5);
  EXPECT_TRUE(std::isnan(value_named(run.metrics, "valid/accuracy")));
  ASSERT_TRUE(run.best);
  EXPECT_EQ(run.best->step, 40);
  EXPECT_EQ(run.best->mode, BestMode::min);
  EXPECT_EQ(value_named(run.best->values, "valid/loss"), 0.25);
  EXPECT_EQ(run.facts.back(), (std::pair<std::string, std::string>{"device", "cpu"}));
  EXPECT_EQ(run.damage, "");
}

TEST_F(RunRecords, SayHowLongARunTookOverAllItsStarts) {
  auto run = of(record({{"result", "done"}, {"exit_code", 0}, {"seconds", 0.4375}}));
  EXPECT_EQ(duration_of(run).seconds, 0.4375);
  EXPECT_EQ(to_text(duration_of(run)), "0.4 s");
  const Json attempts{{{"started", "2026-01-01T00:00:00Z"}, {"seconds", 2.25}},
                      {{"started", "2026-01-01T00:00:00Z"}, {"seconds", nullptr}}};
  run =
      of(record({{"result", "done"}, {"exit_code", 0}, {"seconds", 0.5}, {"attempts", attempts}}));
  EXPECT_EQ(run.earlier.seconds, 2.25);
  EXPECT_EQ(to_text(duration_of(run)), "2.8 s");
}

TEST_F(RunRecords, WithoutADurationKnowItToTheSecond) {
  auto run = of(record({{"result", "done"}, {"exit_code", 0}, {"ended", "2026-01-01T00:00:37Z"}}));
  EXPECT_EQ(duration_of(run).seconds, 37);
  EXPECT_EQ(to_text(duration_of(run)), "37 s");
  run = of(record({{"result", "done"}, {"exit_code", 0}, {"ended", "2026-01-01T00:00:00Z"}}));
  EXPECT_EQ(to_text(duration_of(run)), "under 1 s");
  run = of(record({{"result", "done"}, {"exit_code", 0}, {"ended", "2026-01-01T00:02:05Z"}}));
  EXPECT_EQ(to_text(duration_of(run)), "2 min 5 s");
  run = of(record(Json::object()));  // killed
  EXPECT_EQ(to_text(duration_of(run)), "");
  run.progress.time = run.began + 4;
  EXPECT_EQ(to_text(duration_of(run)), "4 s");
}

TEST_F(RunRecords, SayHowARunEnded) {
  EXPECT_EQ(status_text(of(record({{"result", "stopped: early"}, {"exit_code", 0}}))),
            "stopped: early");
  EXPECT_EQ(status_text(of(record({{"result", "interrupted"}, {"exit_code", 130}}))),
            "interrupted");
  EXPECT_EQ(of(record({{"result", "paused"}, {"exit_code", 0}})).status, RunStatus::interrupted);
  EXPECT_EQ(status_text(of(record({{"exit_code", 5}}))), "failed, exit code 5");
  EXPECT_EQ(status_text(of(record({{"result", "failed to start"}, {"exit_code", 3}}))),
            "failed to start, exit code 3");
}

TEST_F(RunRecords, TellARunFromOneThatWasKilledByTheLockOfItsFolder) {
  EXPECT_EQ(of(record(Json::object())).status, RunStatus::killed);
  {
    const FileLock lock(folder_ / "quick/003/.lock");
    EXPECT_EQ(of(record(Json::object())).status, RunStatus::running);
  }
  EXPECT_EQ(status_text(of(record(Json::object()))), "killed");
}

TEST_F(RunRecords, OfARunWithoutAnEndHaveTheLastWholeRowOfMetrics) {
  folder_.write("quick/003/metrics.csv",
                "step,epoch,train/loss,valid/loss,valid/accuracy\n"
                "10,1,2,0.75,0.5\n"
                "20,2,1,0.5,0.625\n"
                "30,3,0.5,0.2");
  auto run = of(record(Json::object()));
  EXPECT_EQ(run.evaluated, 20);
  EXPECT_EQ(run.metrics, (NamedValues{{"valid/loss", 0.5}, {"valid/accuracy", 0.625}}));
  run = of(record({{"result", "done"}, {"exit_code", 0}, {"metrics", {{"valid/loss", 0.125}}}}));
  EXPECT_EQ(run.metrics, (NamedValues{{"valid/loss", 0.125}}));
}

TEST_F(RunRecords, OfARunWithoutAnEvaluationHaveNone) {
  for (const auto* csv : {"", "step,valid/loss", "step,valid/loss\n", "step,valid/loss\n10"}) {
    folder_.write("quick/003/metrics.csv", csv);
    const auto run = of(record(Json::object()));
    EXPECT_TRUE(run.metrics.empty()) << csv;
    EXPECT_EQ(run.evaluated, -1) << csv;
  }
}

TEST_F(RunRecords, OfTornFilesSayWhatIsWrong) {
  EXPECT_EQ(read_run_record(folder_ / "none").damage, "run.json is missing");
  folder_.write("torn/run.json", R"({"name": "qui)");
  const auto torn = read_run_record(folder_ / "torn");
  EXPECT_EQ(torn.damage, "run.json cannot be read");
  EXPECT_EQ(torn.status, RunStatus::unknown);
  // Keys of other types than ours are as if they were not there.
  const auto odd = of({{"name", 3},
                       {"exit_code", "0"},
                       {"result", Json::array()},
                       {"metrics", "none"},
                       {"best", {{"metric", 1}}},
                       {"began", 12},
                       {"attempts", "two"}});
  EXPECT_EQ(odd.status, RunStatus::killed);
  EXPECT_EQ(odd.began, 0);
  EXPECT_FALSE(odd.best);
}

}  // namespace
}  // namespace ddptrain
