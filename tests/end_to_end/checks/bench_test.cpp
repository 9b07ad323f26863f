// `bench`: parts of a step that sum to it, on each number of devices, and nothing left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "end_to_end/ranks/machines.h"

namespace ddptrain::end_to_end {
namespace {

Ended bench_small(const Folder& folder, const std::vector<std::string>& more) {
  write(folder / "small.yaml", small_recipe());
  std::vector<std::string> words{"bench", "small.yaml", kSmallModel};
  words.insert(words.end(), more.begin(), more.end());
  return run(words, folder.path(), environment());
}

TEST(Bench, MeasuresPartsThatSumToTheStep) {
  const Folder folder;
  const auto ended = bench_small(folder, {"--devices", "1,2", "--steps", "3", "--format", "json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto runs = nlohmann::json::parse(ended.out).at("runs");
  ASSERT_EQ(runs.size(), 2U);
  for (const auto& each : runs) {
    double sum = 0;
    for (const auto& [name, seconds] : each.at("phases").items()) {
      EXPECT_GE(seconds, 0) << name;
      sum += seconds.get<double>();
    }
    const double step = each.at("step");
    EXPECT_NEAR(sum, step, 1e-9 * step);
    for (const auto* part : {"loader", "transfer", "forward", "backward", "optimizer"})
      EXPECT_GT(each.at("phases").at(part), 0) << part;
    EXPECT_GT(each.at("loader_alone"), 0);
    EXPECT_GT(each.at("limit_flops"), 0);
    EXPECT_GT(each.at("limit_bytes"), 0);
    EXPECT_GT(each.at("bytes"), 0);
    EXPECT_FALSE(each.at("bottleneck").at("text").get<std::string>().empty());
  }
  EXPECT_EQ(runs[1].at("devices"), 2);
  EXPECT_GT(runs[1].at("phases").at("communication"), 0);
  // Each of two ranks has half of the batch.
  EXPECT_EQ(runs[0].at("flops"), 2 * runs[1].at("flops").get<double>());
}

TEST(Bench, PrintsTablesAndLeavesNothing) {
  const Folder folder;
  const auto ended = bench_small(folder, {"--devices", "1,2", "--steps", "2"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, testing::ContainsRegex("waiting for the loader +[0-9.]+ +[0-9.]+ %\n"));
  EXPECT_THAT(ended.out, testing::HasSubstr(
                             "devices  global batch  ms/step  samples/s  speed-up  efficiency\n"));
  for (const auto& name : list(folder.path()))
    EXPECT_TRUE(name == "small.yaml" || name.starts_with(".program-")) << name;
}

// Parts are times of the device there, of steps that no graph hides.
TEST(Bench, MeasuresPartsOfADevice) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto ended = Program({"bench", "small.yaml", kSmallModel, "parallel.device=simulated",
                              "--steps", "3", "--format", "json"},
                             folder.path(), simulating())
                         .wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto found = nlohmann::json::parse(ended.out).at("runs").at(0);
  EXPECT_EQ(found.at("on_cpu"), false);
  EXPECT_GT(found.at("step"), 0);
  for (const auto* part : {"transfer", "forward", "backward", "optimizer"})
    EXPECT_GT(found.at("phases").at(part), 0) << part;
}

TEST(Bench, SuggestsOverridesThatRecipesTake) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  for (const std::string override :
       {"data.loader.workers=2", "data.loader.prefetch=16", "data.decode=fast", "batch.global=32",
        "train.threads=2", "train.channels_last=true", "train.precision=bf16"}) {
    const auto ended = run({"validate", "small.yaml", override}, folder.path(), environment());
    EXPECT_EQ(ended.code, 0) << override << ended.err;
  }
  const auto ended = run({"validate", "small.yaml", "parallel.mode=ddp", "parallel.devices=2",
                          "parallel.ddp.comm.dtype=bf16"},
                         folder.path(), environment());
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST(Bench, RefusesWhatItCannotMeasure) {
  const Folder folder;
  const auto refused = [&](const std::vector<std::string>& words, int code,
                           const std::string& message) {
    const auto ended = bench_small(folder, words);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_THAT(ended.err, testing::HasSubstr(message));
  };
  refused({"--devices", "1,none"}, 2, "error: --devices: 'none' is not a number from 1 to 1024\n");
  refused({"--steps", "0"}, 2, "error: --steps: '0' is not a number from 1 to 100000\n");
  refused({"batch.global=5000", "--steps", "2"}, 3,
          "training samples, and batch.global is 5000; make the batch smaller, or write "
          "'drop_last: false'\n");
  refused({"parallel.mode=sideways"}, 2,
          "error[bad-value]: parallel.mode: 'sideways' is not one of none, dp, ddp, ");
}

}  // namespace
}  // namespace ddptrain::end_to_end
