// `sweep`: trials are ordinary runs, halving loses nothing, and a killed sweep goes on.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using Words = std::vector<std::string>;

const std::string kSweep = "runs/small/sweep-001";

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// With the MNIST net, and a rate that depends on the length of the run.
const Words kSmall{"small.yaml", kSmallModel, "schedule=one_cycle", "train.duration=9 steps",
                   "eval.every=1 step"};
const Words kGrid = Words{"sweep"} + kSmall + Words{"optimizer.lr=0.01,0.1,0.5"};
const Words kHalving =
    kGrid + Words{"batch.global=8,16", "sweep.method=halving", "sweep.halving.min=1 step"};

void make_recipe(const Folder& folder) { write(folder / "small.yaml", small_recipe()); }

std::string tables(const Folder& folder) {
  return read(folder / kSweep + "/trials.txt") + read(folder / kSweep + "/trials.csv") +
         read(folder / kSweep + "/trials.json");
}

nlohmann::json trials(const Folder& folder) {
  return nlohmann::json::parse(read(folder / kSweep + "/trials.json"));
}

std::string weights(const std::string& run) {
  return read(run + "/checkpoints/step-00000009/model.safetensors");
}

bool wait_for(const std::function<bool()>& what) {
  for (int i = 0; i < 12000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(50)))
    if (what()) return true;
  return false;
}

TEST(Sweep, MakesTheRunsThatTheirOptionsWouldMake) {
  const Folder folder;
  make_recipe(folder);
  const auto ended =
      run(kGrid + Words{"sweep.parallel=2", "train.threads=1"}, folder.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, read(folder / kSweep + "/trials.txt"));
  const auto found = trials(folder);
  ASSERT_EQ(found["trials"].size(), 3U);
  EXPECT_EQ(found["metric"], "valid/accuracy");
  for (const auto& trial : found["trials"]) EXPECT_EQ(trial["state"], "done");
  const auto alone = Words{"run"} + kSmall + Words{"optimizer.lr=0.1", "train.threads=1"};
  ASSERT_EQ(run(alone, folder.path(), environment()).code, 0);
  EXPECT_FALSE(weights(folder / "runs/small/001").empty());
  EXPECT_EQ(weights(folder / kSweep + "/002"), weights(folder / "runs/small/001"));
  const auto again = run({"resume", kSweep + "/002"}, folder.path(), environment());
  EXPECT_NE(again.err.find("complete"), std::string::npos) << again.err;
  const auto report = read(folder / kSweep + "/report.html");
  EXPECT_NE(report.find("<h2>Parallel coordinates</h2>"), std::string::npos);
  ASSERT_EQ(run({"report", kSweep, "--output", "r.html"}, folder.path()).code, 0);
  EXPECT_EQ(read(folder / "r.html"), report);
}

TEST(Sweep, PromotesByResumingExactly) {
  const Folder folder;
  make_recipe(folder);
  const auto ended = run(kHalving, folder.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto found = trials(folder);
  ASSERT_EQ(found["trials"].size(), 6U);
  const auto& best = found["trials"][0];
  EXPECT_EQ(best["rung"], 2);
  EXPECT_EQ(best["steps"], 9);
  std::int64_t steps = 0;
  for (const auto& trial : found["trials"]) steps += trial["steps"].get<std::int64_t>();
  EXPECT_LT(steps, 6 * 9);
  const auto alone = Words{"run"} + kSmall +
                     Words{"optimizer.lr=" + best["values"]["optimizer.lr"].get<std::string>(),
                           "batch.global=" + best["values"]["batch.global"].get<std::string>()};
  ASSERT_EQ(run(alone, folder.path(), environment()).code, 0);
  const auto promoted = folder / kSweep + "/" + best["runs"][0].get<std::string>();
  EXPECT_FALSE(weights(promoted).empty());
  EXPECT_EQ(weights(promoted), weights(folder / "runs/small/001"));
  EXPECT_EQ(read(promoted + "/metrics.csv"), read(folder / "runs/small/001/metrics.csv"));
}

TEST(Sweep, KilledTwiceEndsWithTheSameTable) {
  const auto words = kHalving + Words{"sweep.parallel=2"};
  const Folder whole, killed;
  make_recipe(whole);
  make_recipe(killed);
  ASSERT_EQ(run(words, whole.path(), environment()).code, 0);
  for (const std::string reached : {"/001/checkpoints/step-00000001", "/003/metrics.csv"}) {
    Program program(words, killed.path(), environment());
    ASSERT_TRUE(wait_for([&] { return exists(killed / kSweep + reached); })) << program.err();
    program.signal(SIGKILL);
    EXPECT_EQ(program.wait().code, 128 + SIGKILL);
    EXPECT_TRUE(wait_for([&] { return processes_with(killed.path()).empty(); }));
  }
  const auto ended = run(words, killed.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(list(killed / "runs/small"), list(whole / "runs/small"));
  EXPECT_EQ(tables(killed), tables(whole));
}

TEST(Sweep, SavesItsTrialsWhereItIsInterruptedAndSaysHowToGoOn) {
  const Folder folder;
  make_recipe(folder);
  const auto words = kGrid + Words{"train.duration=3000 steps", "eval.every=3000 steps",
                                   "checkpoint.every=3000 steps", "sweep.parallel=2"};
  Program program(words, folder.path(), environment());
  const auto trains = [&](const std::string& trial) {
    return reached_step(read(folder / kSweep + "/output/" + trial + ".txt")) > 0;
  };
  ASSERT_TRUE(wait_for([&] { return trains("001") && trains("002"); })) << program.err();
  program.signal(SIGINT);
  const auto ended = program.wait();
  EXPECT_EQ(ended.code, 128 + SIGINT) << ended.err;
  EXPECT_NE(ended.err.find(" sweep small.yaml "), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("goes on with this sweep"), std::string::npos) << ended.err;
  for (const std::string trial : {"/001", "/002"})
    EXPECT_FALSE(list(folder / kSweep + trial + "/checkpoints").empty()) << trial;
  EXPECT_FALSE(exists(folder / kSweep + "/003"));
  EXPECT_TRUE(processes_with(folder.path()).empty());
}

TEST(Sweep, GoesOnWhereATrialFailsAndSaysSo) {
  const Folder folder;
  make_recipe(folder);
  const auto words = Words{"sweep"} + kSmall + Words{"data.root=" + shapes() + ",nowhere"};
  const auto ended = run(words, folder.path(), environment());
  EXPECT_EQ(ended.code, 3) << ended.err;
  const auto found = trials(folder);
  EXPECT_EQ(found["trials"][0]["state"], "done");
  EXPECT_EQ(found["trials"][1]["state"], "failed");
  const auto error = found["trials"][1]["error"].get<std::string>();
  EXPECT_NE(error.find("nowhere"), std::string::npos) << error;
  EXPECT_NE(ended.out.find("trial 2 failed: "), std::string::npos) << ended.out;

  const Folder stopped;
  make_recipe(stopped);
  const auto stops =
      Words{"sweep"} + kSmall + Words{"data.root=nowhere," + shapes(), "sweep.on_failure=stop"};
  EXPECT_EQ(run(stops, stopped.path(), environment()).code, 3);
}

// At the largest rate the loss becomes larger, so an early evaluation is the best.
TEST(Sweep, AndRunsNameTheSameWinner) {
  const Folder folder;
  make_recipe(folder);
  for (const auto* keeps :
       {"checkpoint.keep_best=null", "checkpoint.keep_best={metric: valid/loss}"}) {
    const auto ended =
        run(kGrid + Words{keeps, "sweep.metric=valid/loss"}, folder.path(), environment());
    ASSERT_EQ(ended.code, 0) << ended.err;
    const bool kept = !std::string(keeps).ends_with("null");
    const std::string sweep = kept ? "runs/small/sweep-002" : "runs/small/sweep-001";
    const auto found = nlohmann::json::parse(read(folder / sweep + "/trials.json"));
    EXPECT_EQ(found["weights"], kept ? "best weights" : "last weights");
    for (const auto& trial : found["trials"]) {
      const auto file = folder / sweep + "/" + trial["runs"][0].get<std::string>() + "/run.json";
      const auto record = nlohmann::json::parse(read(file));
      EXPECT_EQ(trial["value"], (kept ? record["best"] : record)["metrics"]["valid/loss"]);
    }
    const auto listed = run({"runs", "--format", "json"}, folder.path());
    for (const auto& row : nlohmann::json::parse(listed.out)) {
      if (row["sweep"] != sweep) continue;
      EXPECT_EQ(row["best"]["trial"], found["trials"][0]["trial"]);
    }
    EXPECT_NE(ended.out.find(kept ? "of the best weights" : "of the last weights"),
              std::string::npos);
  }
}

// What diverged would diverge again: the second start finds nothing to train, and shows the table.
TEST(Sweep, WithATrialThatWasNotFiniteIsNotStartedOver) {
  const Folder folder;
  make_recipe(folder);
  for (const Words& more : {Words{}, Words{"sweep.seeds=2", "name=seeds"}}) {
    const auto words =
        Words{"sweep"} + kSmall + Words{"optimizer.lr=0.01,1e30", "train.duration=3 steps"} + more;
    const auto first = run(words, folder.path(), environment());
    EXPECT_EQ(first.code, 5) << first.err;
    const auto again = run(words, folder.path(), environment());
    EXPECT_EQ(again.code, 5) << again.err;
    EXPECT_EQ(again.out, first.out);
    EXPECT_EQ(again.err.find("after 3 steps"), std::string::npos) << again.err;
    EXPECT_NE(again.err.find("nothing is left to train"), std::string::npos) << again.err;
  }
  EXPECT_FALSE(exists(folder / "runs/small/sweep-002"));
  EXPECT_FALSE(exists(folder / "runs/seeds/sweep-002"));
}

TEST(Sweep, AveragesOverSeeds) {
  const Folder folder;
  make_recipe(folder);
  const auto ended = run(kGrid + Words{"sweep.seeds=2", "seed=5"}, folder.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto found = trials(folder);
  const auto& trial = found["trials"][0];
  EXPECT_EQ(trial["runs"].size(), 2U);
  double sum = 0;
  for (const auto& name : trial["runs"]) {
    const auto file = folder / kSweep + "/" + name.get<std::string>() + "/run.json";
    const auto record = nlohmann::json::parse(read(file));
    sum += record["metrics"]["valid/accuracy"].get<double>();
  }
  EXPECT_DOUBLE_EQ(trial["value"].get<double>(), sum / 2);
}

TEST(Sweep, AsAnArrayJobIsAScriptWhoseElementsMakeItsTrials) {
  const Folder folder;
  make_recipe(folder);
  const auto printed = run(kGrid + Words{"--print", "slurm"}, folder.path(), environment());
  ASSERT_EQ(printed.code, 0) << printed.err;
  EXPECT_FALSE(exists(folder / "runs"));
  EXPECT_NE(printed.out.find("#SBATCH --array=1-3\n"), std::string::npos) << printed.out;
  write(folder / "job.sh", printed.out);
  for (const std::string element : {"3", "1", "2"}) {
    auto variables = environment();
    variables["SLURM_ARRAY_TASK_ID"] = element;
    Program job({folder / "job.sh"}, folder.path(), variables, "/bin/bash");
    const auto ended = job.wait();
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(exists(folder / kSweep + "/00" + element + "/run.json"));
  }
  const auto table = run(kGrid, folder.path(), environment());
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_EQ(list(folder / kSweep + "/output"), Words{}) << "nothing was left to train";
  for (const auto& trial : trials(folder)["trials"]) EXPECT_EQ(trial["state"], "done");
  EXPECT_EQ(run(kHalving + Words{"--print", "slurm"}, folder.path(), environment()).code, 2);
}

TEST(Sweep, RefusesWhatCannotBeTriedBeforeAnythingStarts) {
  const Folder folder;
  make_recipe(folder);
  Words large;
  for (int i = 0; i < 9; ++i)
    large.push_back(std::string(i < 5 ? "model.x" : "data.x") + std::to_string(i) +
                    "=0,1,2,3,4,5,6,7,8,9");
  const std::vector<std::pair<Words, std::string>> cases{
      {{"optimzer.lr=1,2"}, "did you mean 'optimizer'"},
      {{"optimizer.lrr=1,2"}, "did you mean 'lr'"},
      {{"optimizer.lr=1..0.1", "sweep.method=random", "sweep.trials=3"}, "ends are swapped"},
      {{"optimizer.lr=log:0..0.1", "sweep.method=random", "sweep.trials=3"}, "begins above 0"},
      {{"optimizer.lr=0.1..1"}, "a grid takes values"},
      {{"optimizer.lr=0.1..1", "sweep.method=random"}, "how many trials"},
      {{"optimizer.lr=1,2", "sweep.metric=f1"}, "'f1' is not among the metrics"},
      {{"batch.global=8,7", "batch.micro=4"}, "(trial 2: batch.global=7)"},
      {{"model=a..b,c"}, "'a..b'"},
      {{"optimizer.lr=1,1"}, "listed twice"},
      {large, "1000000000 points"},
      {{}, "no option is varied"},
  };
  for (const auto& [words, message] : cases) {
    const auto ended = run(Words{"sweep", "small.yaml"} + words, folder.path(), environment());
    EXPECT_EQ(ended.code, 2) << message;
    EXPECT_NE(ended.err.find(message), std::string::npos) << message << "\n" << ended.err;
  }
  EXPECT_FALSE(exists(folder / "runs"));
}

TEST(Sweep, IsKnownToValidatePlanAndRun) {
  const Folder folder;
  write(folder / "small.yaml",
        small_recipe("sweep: {keys: {batch.global: [16, 6], optimizer.lr: [1e-3, 1e-2]}}\n"));
  EXPECT_EQ(run({"validate", "small.yaml"}, folder.path(), environment()).code, 0);
  const auto wrong = run({"validate", "small.yaml", "batch.micro=4"}, folder.path(), environment());
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("small.yaml:22:35: error[batch]"), std::string::npos) << wrong.err;
  EXPECT_NE(wrong.err.find("(trial 3: batch.global=6"), std::string::npos) << wrong.err;
  const auto plan = run({"plan", "small.yaml"}, folder.path(), environment());
  EXPECT_NE(plan.out.find("grid, 4 trials"), std::string::npos) << plan.out;
  const auto alone = run({"run", "small.yaml", kSmallModel, "train.duration=1 step"}, folder.path(),
                         environment());
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_NE(alone.err.find("'ddptrain sweep'"), std::string::npos) << alone.err;
}

}  // namespace
}  // namespace ddptrain::end_to_end
