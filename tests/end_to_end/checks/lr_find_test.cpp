// `lr-find`: the same curve in every mode, and nothing left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <sstream>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

/// The numbers of a table, row by row.
std::vector<double> rates_and_losses(const std::string& csv) {
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  std::vector<double> found;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) found.push_back(std::stod(field));
  }
  return found;
}

TEST(LrFind, GivesTheSameLossesInEveryMode) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  std::vector<double> one;
  for (const std::string mode : {"none", "dp", "ddp"}) {
    const auto devices = std::string("parallel.devices=") + (mode == "none" ? "1" : "2");
    const auto ended = run(
        {"lr-find", "small.yaml", kSmallModel, "train.precision=fp64", "--steps", "30", "--start",
         "1e-3", "--end", "0.5", "--output", mode + ".csv", "parallel.mode=" + mode, devices},
        folder.path(), environment());
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out,
                testing::ContainsRegex(
                    "valley +[0-9.e-]+  two thirds into the longest fall of the loss\n"));
    const auto curve = rates_and_losses(read(folder / (mode + ".csv")));
    if (one.empty()) one = curve;
    ASSERT_EQ(curve.size(), 4 * 30U);
    for (std::size_t i = 0; i < curve.size(); ++i)
      ASSERT_NEAR(curve[i], one[i], 1e-9 * std::abs(one[i])) << mode << " at " << i;
  }
}

TEST(LrFind, LeavesNothingBehindAndStartsAFreshRunUnchanged) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe("callbacks: [early_stopping]\n"));
  const auto before = list(shapes());
  const auto ended =
      run({"lr-find", "small.yaml", kSmallModel, "--steps", "12", "train.ema.decay=0.9"},
          folder.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_FALSE(exists(folder / "runs"));
  for (const auto& name : list(folder.path()))
    EXPECT_TRUE(name == "small.yaml" || name.starts_with(".program-")) << name;
  EXPECT_EQ(list(shapes()), before);
}

TEST(LrFind, StopsWhereTheLossDiverges) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto ended =
      run({"lr-find", "small.yaml", kSmallModel, "--end", "1e6"}, folder.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              testing::HasSubstr(
                  " of 100 steps: stopped: the smoothed loss is above four times its best\n"));
}

TEST(LrFind, RefusesRatesAndStepsThatMakeNoCurve) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto refused = [&](const std::vector<std::string>& flags, const std::string& message) {
    std::vector<std::string> words{"lr-find", "small.yaml"};
    words.insert(words.end(), flags.begin(), flags.end());
    const auto ended = run(words, folder.path(), environment());
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, testing::HasSubstr(message));
  };
  refused({"--start", "2", "--end", "1"},
          "error: rates grow from --start to --end: 0 < start < end\n");
  refused({"--start", "small"}, "error: --start: 'small' is not a number\n");
  refused({"--steps", "5"}, "error: --steps: fewer than 6 steps show no curve\n");
  refused({"--steps", "7.5"}, "error: --steps: '7.5' is not a number of steps\n");
}

TEST(LrFind, EndsAtCtrlCAndLeavesNoProcess) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  Program program({"lr-find", "small.yaml", kSmallModel, "-v", "--steps", "1000000", "--end",
                   "1e-6", "parallel.mode=ddp", "parallel.devices=2"},
                  folder.path(), environment());
  while (program.running() && program.err().find("samples 3.1") == std::string::npos)
    ::usleep(10'000);
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().code, 128 + SIGINT);
  EXPECT_TRUE(processes_with(folder.path()).empty());
}

}  // namespace
}  // namespace ddptrain::end_to_end
