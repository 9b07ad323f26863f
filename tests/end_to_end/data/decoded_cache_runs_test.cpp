// data.cache in whole runs: the weights of runs without it, on ranks, after a kill, in a plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;

class DecodedCacheRuns : public testing::Test {
 protected:
  DecodedCacheRuns() { write(folder_ / "small.yaml", small_recipe()); }

  static constexpr const char* kCached = "data.cache={decoded: true, folder: pixels}";

  std::vector<std::string> on_two_ranks(const std::string& name) const {
    return {"run",
            "small.yaml",
            kSmallModel,
            "name=" + name,
            "train.duration=9 steps",
            "schedule={type: constant}",
            "checkpoint.every=1 step",
            "eval.every=100 steps",
            "parallel.mode=ddp",
            "parallel.devices=2"};
  }

  std::string trained(std::vector<std::string> words, const std::string& name) const {
    const auto ended = run(words, folder_.path(), environment());
    EXPECT_EQ(ended.code, 0) << ended.err;
    return weights(name);
  }

  std::string weights(const std::string& name) const {
    return read(folder_ / ("runs/" + name + "/latest/checkpoints/step-00000009/model.safetensors"));
  }

  Folder folder_;
};

TEST_F(DecodedCacheRuns, HaveTheWeightsOfRunsWithoutItAlsoAfterAKill) {
  const auto plain = trained(on_two_ranks("plain"), "plain");
  auto words = on_two_ranks("killed");
  words.emplace_back(kCached);
  Program killed(words, folder_.path(), environment());
  while (killed.running() && !exists(folder_ / "runs/killed/latest/checkpoints/step-00000003"))
    ::usleep(1000);
  killed.signal(SIGKILL);
  killed.wait();
  trained({"resume", "runs/killed/latest"}, "killed");
  EXPECT_EQ(weights("killed"), plain);
  auto again = on_two_ranks("again");
  again.emplace_back(kCached);
  EXPECT_EQ(trained(again, "again"), plain);
  int files = 0;
  for (const auto& name : list(folder_ / "pixels")) files += name.ends_with(".pixels");
  EXPECT_EQ(files, 1);
}

TEST_F(DecodedCacheRuns, AreNamedByPlan) {
  const auto plan =
      run({"plan", "small.yaml", kCached, "--no-model"}, folder_.path(), environment());
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("cache          at most 8.0 GiB of decoded images in '"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
