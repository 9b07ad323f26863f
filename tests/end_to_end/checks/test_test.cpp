// `test`: recipes as tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

TEST(TestVerb, ComparesMetricsWithWhatIsExpected) {
  const Folder folder;
  write(folder / "met.yaml", small_recipe("expect: {accuracy: {min: 0, max: 1}}\n"));
  write(folder / "short.yaml", small_recipe("expect: {valid/accuracy: {min: 1}}\n"));
  const auto ended = run({"test", "met.yaml", "short.yaml", kSmallModel, "train.duration=2 steps"},
                         folder.path(), environment());
  EXPECT_EQ(ended.code, 6) << ended.err;
  EXPECT_THAT(ended.out, testing::HasSubstr("at least 0, at most 1  met "));
  EXPECT_THAT(ended.out, testing::ContainsRegex(
                             "\nshort.yaml  valid/accuracy  0\\.[0-9]+ +at least 1 +not met  "));
  EXPECT_TRUE(exists(folder / "runs/small/002"));
}

TEST(TestVerb, GoesOnBehindARecipeThatCannotRun) {
  const Folder folder;
  write(folder / "wrong.yaml", "model: resnet81\n");
  write(folder / "good.yaml", small_recipe());
  const auto ended =
      run({"test", "wrong.yaml", "good.yaml", "--quick"}, folder.path(), environment());
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(ended.out, testing::ContainsRegex("\nwrong.yaml +exit 2  "));
  EXPECT_THAT(ended.out, testing::ContainsRegex("\ngood.yaml +ran  "));
}

/// Images, a table and texts, none of which are there, and nothing is left behind.
TEST(TestVerb, QuickNeedsNoDataAndLeavesNothing) {
  const Folder folder;
  const auto recipe = [](const std::string& name) { return test::in_source("recipes/" + name); };
  const auto ended =
      run({"test", "--quick", recipe("mnist.yaml"), recipe("adult.yaml"), recipe("houses.yaml"),
           recipe("imdb-bag.yaml"), recipe("shapes.yaml"), recipe("shapes-sweep.yaml")},
          folder.path(), {{"TMPDIR", folder.path()}});
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::size_t ran = 0;
  for (auto at = ended.out.find(" ran "); at != std::string::npos;
       at = ended.out.find(" ran ", at + 1))
    ++ran;
  EXPECT_EQ(ran, 6U) << ended.out;
  for (const auto& name : list(folder.path()))
    EXPECT_THAT(name, testing::Not(testing::HasSubstr("runs")));
  for (const auto& name : list(folder.path()))
    EXPECT_THAT(name, testing::Not(testing::HasSubstr("ddptrain-test")));
}

/// The most memory that a process itself has had, in kB; its children count for themselves.
long peak_kilobytes(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      long kilobytes = 0;
      status >> kilobytes;
      return kilobytes;
    }
  return 0;
}

TEST(TestVerb, QuickKeepsNothingOfARecipeInItsMemory) {
  const Folder folder;
  const auto recipe = [](const std::string& name) { return test::in_source("recipes/" + name); };
  Program program({"test", "--quick", recipe("imdb-bag.yaml"), recipe("camvid-tiny.yaml"),
                   recipe("adult.yaml"), recipe("imdb-bag.yaml")},
                  folder.path(), {{"TMPDIR", folder.path()}});
  long most = 0;
  while (program.running()) {
    most = std::max(most, peak_kilobytes(program.pid()));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(program.wait().code, 0);
  EXPECT_GT(most, 0);
  EXPECT_LT(most, 512L << 10);
}

/// The loss alone implies that the targets are numbers.
TEST(TestVerb, QuickRunsARegressionThatNamesNoTask) {
  const Folder folder;
  write(folder / "prices.yaml",
        "model: {type: tabular, layers: [8]}\n"
        "data: {type: csv_table, file: prices.csv, target: price}\n"
        "batch: {global: 8}\nloss: mse\nmetrics: [mae]\noptimizer: {type: sgd, lr: 0.01}\n");
  const auto ended = run({"test", "--quick", "prices.yaml"}, folder.path(), environment());
  EXPECT_EQ(ended.code, 0) << ended.err;
}

}  // namespace
}  // namespace ddptrain::end_to_end
