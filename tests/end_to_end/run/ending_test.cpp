// The end of a run: what it says, where, and that the commands it names can be typed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The commands below "next:", as words of this program. The small shapes' paths hold no blanks.
std::vector<std::vector<std::string>> commands_in(const std::string& err) {
  std::vector<std::vector<std::string>> commands;
  for (const auto& line : lines_of(err.substr(err.find("next:\n") + 6))) {
    if (!line.starts_with("  ")) break;
    std::istringstream words(line);
    std::string word;
    words >> word;  // the program
    commands.emplace_back();
    while (words >> word) commands.back().push_back(word);
  }
  return commands;
}

TEST(EndOfRun, NamesBestAndLastAndThreeCommandsThatWork) {
  const Folder folder;
  write(folder / "small.yaml",
        small_recipe("metrics: [accuracy, confusion_matrix]\n"
                     "eval: {every: 2 steps}\n"
                     "checkpoint: {keep_best: {metric: valid/accuracy, mode: max}}\n"
                     "expect: {valid/confusion_matrix/circle/circle: {min: 0}}\n"));
  const auto ended = run({"run", "small.yaml", kSmallModel}, folder.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err,
              testing::ContainsRegex("\ndone in [0-9.]+ (ms|s): step 8, epoch 1\\.1429\n"));
  EXPECT_THAT(ended.out,
              testing::ContainsRegex(" +best (\\(step [0-9]+\\)  last|and last) \\(step 8\\)\n"));
  EXPECT_THAT(ended.out, HasSubstr("best by valid/accuracy (larger is better)"));
  EXPECT_THAT(ended.out, HasSubstr("valid/confusion_matrix: best "));
  EXPECT_THAT(ended.out + ended.err, Not(HasSubstr("\033")));
  const auto log = read(folder / "runs/small/001/log.txt");
  for (const auto& line : lines_of(ended.out)) EXPECT_THAT(log, HasSubstr(line));
  const auto commands = commands_in(ended.err);
  ASSERT_EQ(commands.size(), 3U) << ended.err;
  for (const auto& command : commands) {
    const auto next = run(command, folder.path());
    EXPECT_EQ(next.code, 0) << command[0] << next.err;
  }
  EXPECT_TRUE(exists(folder / "model.safetensors"));
}

// At that rate the loss becomes larger, so an early evaluation is the best.
TEST(EndOfRun, ShowsTheBestWeightsThatEvalScoresToo) {
  for (const auto* devices : {"parallel.devices=1", "parallel.devices=2"}) {
    const Folder folder;
    write(folder / "small.yaml",
          small_recipe("metrics: [accuracy, confusion_matrix]\n"
                       "eval: {every: 2 steps}\n"
                       "checkpoint: {keep_best: {metric: valid/loss}, keep_last: 1}\n"));
    const auto ended = run({"run", "small.yaml", kSmallModel, devices, "optimizer.lr=0.5",
                            "parallel.mode=ddp", "train.threads=1"},
                           folder.path(), environment());
    ASSERT_EQ(ended.code, 0) << ended.err;
    const auto home = folder / "runs/small/001/";
    const auto record = nlohmann::json::parse(read(home + "run.json"));
    const auto step = record.at("best").at("step").get<int>();
    ASSERT_LT(step, 8);
    const auto weights = "best weights, step " + std::to_string(step);
    EXPECT_THAT(ended.out, HasSubstr("valid/confusion_matrix: " + weights + "\n"));
    EXPECT_THAT(ended.out, HasSubstr("; result: " + weights + "\n"));
    const auto scored = run({"eval", "runs/small/001", "--checkpoint", "best", "--tables", "tables",
                             "parallel.mode=none", "parallel.devices=1"},
                            folder.path());
    ASSERT_EQ(scored.code, 0) << scored.err;
    EXPECT_THAT(scored.err, HasSubstr(weights + ": scored 40 samples"));
    EXPECT_THAT(read(home + "confusion.csv"), HasSubstr("(" + weights + ")"));
    EXPECT_EQ(read(home + "confusion.csv"), read(folder / "tables/confusion.csv"));
    EXPECT_EQ(read(home + "classes.csv"), read(folder / "tables/classes.csv"));
    const auto samples = nlohmann::json::parse(read(home + "samples.json"));
    EXPECT_EQ(samples.at("weights"), "best weights");
    EXPECT_EQ(samples.at("step"), step);
    const auto report = read(home + "report.html");
    EXPECT_THAT(report, HasSubstr("valid/confusion_matrix</bdi>: " + weights));
    EXPECT_THAT(report, HasSubstr("<h2>Samples</h2>\n<p>" + weights));
  }
}

// Between the best loss and the last one, which a bound distinguishes.
TEST(EndOfRun, IsJudgedByTheWeightsThatAreItsResult) {
  const Folder folder;
  const std::string kept =
      "eval: {every: 2 steps}\ncheckpoint: {keep_best: {metric: valid/loss}, keep_last: 1}\n";
  write(folder / "small.yaml", small_recipe(kept));
  const std::vector<std::string> words{"run", "small.yaml", kSmallModel, "optimizer.lr=0.5",
                                       "train.threads=1"};
  const auto judged = [&](const std::string& expect) {
    auto all = words;
    if (!expect.empty()) all.push_back(expect);
    return run(all, folder.path(), environment());
  };
  ASSERT_EQ(judged("").code, 0);
  const auto record = nlohmann::json::parse(read(folder / "runs/small/001/run.json"));
  const auto best = record.at("best").at("metrics").at("valid/loss").get<double>(),
             last = record.at("metrics").at("valid/loss").get<double>();
  ASSERT_LT(best, last);
  const auto bound = [](double value) {
    return "expect={valid/loss: {max: " + std::to_string(value) + "}}";
  };
  const auto met = judged(bound((best + last) / 2));
  EXPECT_EQ(met.code, 0) << met.err;
  const auto failed = judged(bound(best / 2));
  EXPECT_EQ(failed.code, 6);
  const auto step = std::to_string(record.at("best").at("step").get<int>());
  EXPECT_THAT(failed.err, HasSubstr("(best weights, step " + step + ")"));
}

TEST(EndOfRun, IsInTheRecordOfTheRun) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe("metrics: [error_rate]\neval: {every: 2 steps}\n"));
  ASSERT_EQ(run({"run", "small.yaml", kSmallModel}, folder.path(), environment()).code, 0);
  const auto record = nlohmann::json::parse(read(folder / "runs/small/001/run.json"));
  const auto& best = record.at("best");
  EXPECT_EQ(best.at("metric"), "valid/error_rate");
  EXPECT_EQ(best.at("mode"), "min");
  double smallest = 2;
  int step = 0;
  const auto rows = lines_of(read(folder / "runs/small/001/metrics.csv"));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto value = std::stod(rows[i].substr(rows[i].rfind(',') + 1));
    if (value < smallest) step = std::stoi(rows[i]);
    smallest = std::min(smallest, value);
  }
  EXPECT_EQ(best.at("step"), step);
  EXPECT_EQ(best.at("metrics").at("valid/error_rate"), smallest);
}

TEST(EndOfRun, ThatWasInterruptedNamesTheCommandToResume) {
  for (const auto* mode : {"parallel.mode=none", "parallel.mode=ddp"}) {
    const Folder folder;
    write(folder / "small.yaml", small_recipe());
    Program program(
        {"run", "small.yaml", kSmallModel, "train.duration=4000 steps", mode,
         std::string("parallel.devices=") + (std::string(mode) == "parallel.mode=ddp" ? "2" : "1")},
        folder.path(), environment());
    while (program.running() && reached_step(program.err()) < 2) ::usleep(10'000);
    program.signal(SIGINT);
    const auto ended = program.wait();
    ASSERT_EQ(ended.code, 130) << ended.err;
    EXPECT_THAT(ended.err,
                testing::ContainsRegex(
                    "\ninterrupted after [0-9.]+ (ms|s) at step [0-9]+ of 4000, epoch [0-9.]+\n"));
    const auto commands = commands_in(ended.err);
    ASSERT_EQ(commands.size(), 1U) << ended.err;
    EXPECT_EQ(commands[0][0], "resume");
    auto resumed = commands[0];
    resumed.insert(resumed.end(), {"train.duration=1 step"});
    EXPECT_TRUE(exists(folder / resumed[1] + "/run.json")) << resumed[1];
  }
}

TEST(EndOfRun, LeavesStdoutToTheTableOfSeeds) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto ended =
      run({"run", "small.yaml", kSmallModel, "train.duration=2 steps", "--repeat", "2"},
          folder.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(ended.out.starts_with("best weights by valid/accuracy (larger is better)\nseed "))
      << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("\nlast weights: the last evaluation of each run\nseed "));
}

TEST(ConfusionMatrix, IsATableAndAFileAndNoColumnsOfScalars) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe("metrics: [accuracy, confusion_matrix]\n"));
  ASSERT_EQ(run({"run", "small.yaml", kSmallModel}, folder.path(), environment()).code, 0);
  const auto home = folder / "runs/small/001/";
  EXPECT_EQ(lines_of(read(home + "metrics.csv"))[0],
            "step,epoch,samples,train/loss,train/lr,valid/loss,valid/accuracy");
  const auto confusion = lines_of(read(home + "confusion.csv"));
  ASSERT_EQ(confusion.size(), 11U);
  EXPECT_THAT(confusion[0], testing::StartsWith("\"true \\ predicted (last weights, step 8)\","));
  for (std::size_t row = 1; row < confusion.size(); ++row) {
    std::istringstream cells(confusion[row]);
    std::string cell;
    std::getline(cells, cell, ',');
    int sum = 0;
    while (std::getline(cells, cell, ',')) sum += std::stoi(cell);
    EXPECT_EQ(sum, 4) << "a row is a true class, and each has 4 images: " << confusion[row];
  }
  EXPECT_EQ(lines_of(read(home + "classes.csv"))[0],
            "class,precision,recall,f1,support,weights,step");
  const auto scored = run({"eval", "runs/small/001", "--tables", "tables"}, folder.path());
  ASSERT_EQ(scored.code, 0) << scored.err;
  EXPECT_EQ(read(folder / "tables/confusion.csv"), read(home + "confusion.csv"));
  EXPECT_EQ(read(folder / "tables/classes.csv"), read(home + "classes.csv"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
