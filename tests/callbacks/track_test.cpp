// scripts/track on the events of a run, with stand-ins for the packages that it feeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/files/files.h"
#include "callbacks/writers.h"
#include "support/temporary_folder.h"
#include "support/where.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;

/// A tracker's package: each call is a line of calls.txt.
constexpr auto kWandb = R"(
def say(*what):
    with open("calls.txt", "a") as file: print(*what, file=file)
class Run:
    def __enter__(self): return self
    def __exit__(self, *error): say("finish")
    def log(self, numbers, step): say("log", step, numbers)
def init(project, name, config):
    say("init", project, name, config)
    return Run()
)";
constexpr auto kMlflow = R"(
def say(*what):
    with open("calls.txt", "a") as file: print(*what, file=file)
class Run:
    def __enter__(self): return self
    def __exit__(self, *error): say("finish")
def set_experiment(project): say("experiment", project)
def start_run(run_name): say("run", run_name); return Run()
def log_artifact(path): say("artifact", path)
def log_metrics(numbers, step): say("metrics", step, numbers)
)";

/// Ten steps of a run; an evaluation in the middle has a class named "a, b".
void write_events(const std::string& path) {
  const auto writer = make_events_jsonl(path, [](const RunView& run) { return run.step % 5 == 0; });
  RunView run;
  RunControl control;
  run.total_steps = 10;
  writer->at(Moment::run_begin, run, control);
  for (run.step = 1; run.step <= 10; ++run.step) {
    run.train_loss = 0.5;
    run.gradient_norm = std::nan("");
    writer->at(Moment::step_end, run, control);
    if (run.step != 5) continue;
    run.metrics = {{"valid/accuracy", 0.25}, {"valid/accuracy/a, b", 0.75}};
    writer->at(Moment::evaluated, run, control);
  }
  run.step = 10;
  writer->at(Moment::run_end, run, control);
}

class Track : public testing::Test {
 protected:
  Track() {
    folder_.write("wandb.py", kWandb);
    folder_.write("mlflow.py", kMlflow);
    folder_.write("run/recipe.yaml", "seed: 7\n");
    write_events(folder_ / "run/events.jsonl");
  }

  /// What the package was called with; nothing where the script failed.
  std::string calls(const std::string& words) const {
    const auto command = "cd '" + folder_.path() + "' && PYTHONPATH=. /usr/bin/python3 -B '" +
                         test::in_source("scripts/track") + "' " + words;
    return std::system(command.c_str()) == 0 ? read_text(folder_ / "calls.txt") : "";
  }

  TemporaryFolder folder_;
};

TEST_F(Track, SaysInOneLineWhatIsMissing) {
  const auto message_of = [&](const std::string& words, const std::string& path) {
    const auto command = "cd '" + folder_.path() + "' && PYTHONPATH=" + path +
                         " /usr/bin/python3 -I -B '" + test::in_source("scripts/track") + "' " +
                         words + " 2> output.txt";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
    return read_text(folder_ / "output.txt");
  };
  EXPECT_EQ(message_of("wandb project run", "none"),
            "track: the Python package 'wandb' is not installed: pip install wandb\n");
  EXPECT_EQ(message_of("mlflow project run", "none"),
            "track: the Python package 'mlflow' is not installed: pip install mlflow\n");
}

TEST_F(Track, SaysInOneLineThatAFolderIsNoRun) {
  const auto command = "cd '" + folder_.path() + "' && PYTHONPATH=. /usr/bin/python3 -B '" +
                       test::in_source("scripts/track") + "' wandb project none 2> output.txt";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
  EXPECT_EQ(read_text(folder_ / "output.txt"),
            "track: none/recipe.yaml: No such file or directory; is it a run folder?\n");
}

TEST_F(Track, GivesWandbTheRecipeAndEveryNumberAtItsStep) {
  const auto output = calls("wandb project run");
  EXPECT_THAT(output, testing::StartsWith("init project run {'recipe': 'seed: 7\\n'}\n"));
  EXPECT_THAT(output, HasSubstr("log 5 {'epoch': 0.0, 'valid/accuracy': 0.25, "
                                "'valid/accuracy/a, b': 0.75}\n"));
  EXPECT_THAT(output, HasSubstr("log 10 {'epoch': 0.0, 'samples': 0, 'train/loss': 0.5, "));
  EXPECT_THAT(output, testing::Not(HasSubstr("gradient_norm"))) << "NaN is no number";
  EXPECT_THAT(output, testing::EndsWith("finish\n"));
}

TEST_F(Track, GivesMlflowNamesThatItTakes) {
  const auto output = calls("mlflow project run");
  EXPECT_THAT(output,
              testing::StartsWith("experiment project\nrun run\nartifact run/recipe.yaml\n"));
  EXPECT_THAT(output, HasSubstr("metrics 5 {'epoch': 0.0, 'valid/accuracy': 0.25, "
                                "'valid/accuracy/a_ b': 0.75}\n"));
}

TEST_F(Track, FollowsUntilTheRunHasEnded) {
  const auto followed = calls("wandb project run --follow");
  folder_.write("calls.txt", "");
  EXPECT_EQ(calls("wandb project run"), followed);
}

TEST_F(Track, SaysHowItIsCalled) { EXPECT_EQ(calls("neptune project run 2> /dev/null"), ""); }

TEST(TrackDocument, ShowsTheWholeScript) {
  EXPECT_THAT(read_text(test::in_source("docs/trackers.md")),
              HasSubstr("```python\n" + read_text(test::in_source("scripts/track")) + "```\n"))
      << "copy scripts/track into docs/trackers.md";
}

}  // namespace
}  // namespace ddptrain
