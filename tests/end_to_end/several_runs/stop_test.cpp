// `ps` lists the runs that go on, and `stop` ends them with a checkpoint.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;

const std::string kEndlessRun = "runs/small/001";

void wait_until(const std::function<bool()>& what) {
  for (int i = 0; i < 6000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(50)))
    if (what()) return;
  FAIL() << "it does not come to that";
}

bool has_begun(const Folder& folder, const std::string& path) {
  return read(folder / path + "/log.txt").find("step ") != std::string::npos;
}

class LongRun : public testing::Test {
 protected:
  LongRun() { write(folder_ / "small.yaml", small_recipe()); }
  std::vector<std::string> words(std::vector<std::string> first,
                                 const std::vector<std::string>& more = {}) {
    first.insert(first.end(),
                 {"small.yaml", kSmallModel, "train.duration=100000 steps", "log.every=1 step"});
    first.insert(first.end(), more.begin(), more.end());
    return first;
  }
  /// Of the runs of this test; others may go on here.
  std::vector<nlohmann::json> listed() {
    const auto ended = run({"ps", "--format", "json"}, folder_.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    std::vector<nlohmann::json> own;
    const auto home = std::filesystem::canonical(folder_.path()).string();
    for (const auto& entry : nlohmann::json::parse(ended.out))
      if (entry.at("folder").get<std::string>().starts_with(home)) own.push_back(entry);
    return own;
  }
  const Folder folder_;
};

TEST_F(LongRun, IsListedWithItsProcessAndStoppedWithACheckpoint) {
  Program training(words({"run"}, {"parallel.mode=ddp", "parallel.devices=2"}), folder_.path(),
                   environment());
  wait_until([&] { return has_begun(folder_, kEndlessRun); });
  const auto all = listed();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].at("process"), training.pid());
  EXPECT_EQ(all[0].at("total_steps"), 100000);
  EXPECT_THAT(run({"ps"}, folder_.path()).out, HasSubstr(kEndlessRun));

  const auto stopped = run({"stop", kEndlessRun}, folder_.path());
  EXPECT_EQ(stopped.code, 0) << stopped.err;
  EXPECT_THAT(stopped.out, testing::StartsWith(kEndlessRun + ": "));
  EXPECT_EQ(training.wait().code, 128 + 15);
  EXPECT_FALSE(list(folder_ / kEndlessRun + "/checkpoints").empty());
  EXPECT_TRUE(listed().empty());

  const auto again = run({"stop", kEndlessRun}, folder_.path());
  EXPECT_EQ(again.code, 3);
  EXPECT_EQ(again.err,
            "error: '" + kEndlessRun + "' does not go on; 'ddptrain ps' shows those that do\n");
}

TEST_F(LongRun, OfASweepEndsWithTheSweep) {
  Program sweep(words({"sweep"}, {"optimizer.lr=0.01,0.02"}), folder_.path(), environment());
  const std::string home = "runs/small/sweep-001";
  wait_until([&] { return has_begun(folder_, home + "/001"); });
  const auto stopped = run({"stop", home}, folder_.path());
  EXPECT_EQ(stopped.code, 0) << stopped.err;
  EXPECT_EQ(sweep.wait().code, 128 + 15);
  EXPECT_FALSE(exists(folder_ / home + "/002"));
}

TEST(Stop, OfAFolderWithoutARunSaysSo) {
  const Folder folder;
  std::filesystem::create_directories(folder / "empty");
  const auto ended = run({"stop", "empty"}, folder.path());
  EXPECT_EQ(ended.code, 3);
  EXPECT_EQ(ended.err,
            "error: 'empty' holds no run that goes on; 'ddptrain ps' shows those that do\n");
}

}  // namespace
}  // namespace ddptrain::end_to_end
