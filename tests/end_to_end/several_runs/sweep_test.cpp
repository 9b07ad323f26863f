// `sweep`: trials are ordinary runs, halving loses nothing, and a killed sweep resumes.
#include <gmock/gmock.h>
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
  EXPECT_THAT(again.err,
              testing::HasSubstr("this run is complete (done: 9 steps); to train on: ddptrain "
                                 "resume runs/small/sweep-001/002 'train.duration=18 steps'\n"));
  const auto report = read(folder / kSweep + "/report.html");
  EXPECT_THAT(report, testing::HasSubstr("<h2>Parallel coordinates</h2>"));
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
  EXPECT_THAT(ended.err,
              testing::ContainsRegex(
                  "\n'[^\n]* sweep small.yaml [^\n]* sweep.parallel=2' resumes this sweep\n"));
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
  EXPECT_THAT(error, testing::HasSubstr("/nowhere' is not there; put the data there, write where "
                                        "they are, or name an archive under data.source"));
  EXPECT_THAT(ended.out, testing::HasSubstr("trial 2 failed: data.root: '"));

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
    EXPECT_THAT(
        ended.out,
        testing::HasSubstr(
            kept ? "by valid/loss (smaller is better) of the best weights, which "
                   "checkpoint.keep_best keeps\n"
                 : "by valid/loss (smaller is better) of the last weights; best: of any "
                   "evaluation, whose weights are not kept without checkpoint.keep_best\n"));
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
    EXPECT_THAT(again.err, testing::Not(testing::HasSubstr("after 3 steps")));
    EXPECT_THAT(again.err, testing::HasSubstr(
                               "nothing is left to train: what was not finite would be so again; "
                               "another recipe, 'name' or 'output.dir' is another sweep\n"));
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
  EXPECT_THAT(printed.out, testing::HasSubstr("#SBATCH --array=1-3\n"));
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
      {{"optimzer.lr=1,2"},
       "error[unknown-key]: 'optimzer' is not a key of a recipe; did you mean 'optimizer'? (trial "
       "1: optimzer.lr=1)\n"},
      {{"optimizer.lrr=1,2"},
       "error[unknown-key]: optimizer: 'lrr' is not an option of 'sgd'; did you mean 'lr'? (trial "
       "1: optimizer.lrr=1)\n"},
      {{"optimizer.lr=1..0.1", "sweep.method=random", "sweep.trials=3"},
       "error[sweep-values]: sweep.keys.optimizer.lr: the ends are swapped: min 1 is above max "
       "0.1\n"},
      {{"optimizer.lr=log:0..0.1", "sweep.method=random", "sweep.trials=3"},
       "error[sweep-values]: sweep.keys.optimizer.lr: a logarithmic range begins above 0, and this "
       "one at 0\n"},
      {{"optimizer.lr=0.1..1"},
       "error[sweep-values]: sweep.keys.optimizer.lr: a grid takes values, [a, b, c]; 'method: "
       "random' or 'sobol' with 'trials' draws from a range\n"},
      {{"optimizer.lr=0.1..1", "sweep.method=random"},
       "error[sweep-trials]: sweep.trials: how many trials are to be drawn? Write for example "
       "'trials: 20'\n"},
      {{"optimizer.lr=1,2", "sweep.metric=f1"},
       "error[sweep-metric]: sweep.metric: 'f1' is not among the metrics; add it to 'metrics'\n"},
      {{"batch.global=8,7", "batch.micro=4"},
       "error[batch]: batch.global: 7 cannot be split over 1 device with batch.micro 4; nearest: "
       "4, 8 (trial 2: batch.global=7)\n"},
      {{"model=a..b,c"},
       "error[unknown-component]: model: 'a..b' is not a model; 'ddptrain list model' shows them "
       "(trial 1: model=a..b)\n"},
      {{"optimizer.lr=1,1"}, "error[sweep-values]: sweep.keys.optimizer.lr: 1 is listed twice\n"},
      {large,
       "error[sweep-trials]: sweep.keys: the grid has 1000000000 points, and a sweep makes at most "
       "1000 runs; 'method: random' or 'sobol' with 'trials' draws some of them\n"},
      {{},
       "error: no option is varied; write its values, 'optimizer.lr=1e-4,1e-3', or a section "
       "'sweep' in the recipe\n"},
  };
  for (const auto& [words, message] : cases) {
    const auto ended = run(Words{"sweep", "small.yaml"} + words, folder.path(), environment());
    EXPECT_EQ(ended.code, 2) << message;
    EXPECT_THAT(ended.err, testing::HasSubstr(message));
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
  EXPECT_THAT(
      wrong.err,
      testing::HasSubstr("small.yaml:22:35: error[batch]: batch.global: 6 cannot be split over 1 "
                         "device with batch.micro 4; nearest: 4, 8 (trial 3: batch.global=6, "));
  const auto plan = run({"plan", "small.yaml"}, folder.path(), environment());
  EXPECT_THAT(plan.out, testing::HasSubstr("grid, 4 trials; 'ddptrain sweep' trains them, and what "
                                           "follows is the recipe's own run\n"));
  const auto alone = run({"run", "small.yaml", kSmallModel, "train.duration=1 step"}, folder.path(),
                         environment());
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_THAT(
      alone.err,
      testing::HasSubstr(
          "this run trains the recipe as it stands; 'ddptrain sweep' reads its section 'sweep'\n"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
