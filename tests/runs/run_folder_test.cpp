#include "runs/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/files/files.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Json = nlohmann::json;

class RunFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "run-folder-XXXXXX").string();
    runs_ = ::mkdtemp(pattern.data());
    start_.name = "shapes";
    start_.recipe_text = "recipe: 1\nname: shapes\n";
    start_.sources = {{"recipes/shapes.yaml", "name: shapes\n"}, {"configs/shapes.yaml", "x: 1\n"}};
    start_.command_line = {"ddptrain", "run", "configs/shapes.yaml", "model={type: mlp}"};
    start_.seed = 7;
    start_.launch = "first";
  }
  void TearDown() override { fs::remove_all(runs_); }

  static Json record(const std::string& folder) {
    return Json::parse(read_text(folder + "/run.json"));
  }

  std::string runs_;
  RunStart start_;
};

TEST_F(RunFolder, TakesTheNextNumberAndIsTheLatest) {
  EXPECT_EQ(make_run_folder(runs_, start_), runs_ + "/shapes/001");
  EXPECT_EQ(make_run_folder(runs_, start_), runs_ + "/shapes/002");
  fs::remove_all(runs_ + "/shapes/001");
  EXPECT_EQ(make_run_folder(runs_, start_), runs_ + "/shapes/003");
  EXPECT_FALSE(fs::exists(runs_ + "/shapes/latest"));
  begin_run(runs_ + "/shapes/002", start_, "abc");
  EXPECT_EQ(fs::read_symlink(runs_ + "/shapes/latest"), "002");
}

TEST_F(RunFolder, IsGoneOrMarkedWhereTheRunDidNotBegin) {
  const auto refused = make_run_folder(runs_, start_);
  abandon_run(refused, start_, 3, false);
  EXPECT_FALSE(fs::exists(runs_ + "/shapes"));
  const auto hung = make_run_folder(runs_, start_);
  abandon_run(hung, start_, 124, true);
  EXPECT_EQ(record(hung).at("result"), "failed to start");
  EXPECT_EQ(unfinished_run(runs_, "shapes", start_.recipe_text), std::nullopt);
  EXPECT_FALSE(fs::exists(runs_ + "/shapes/latest"));
}

TEST_F(RunFolder, OfABegunRunIsLeftAloneByALaunchThatDidNotBegin) {
  const auto folder = make_run_folder(runs_, start_);
  begin_run(folder, start_, "abc");
  note_exit(folder, start_, 0);
  const auto before = read_text(folder + "/run.json");
  auto again = start_;
  again.launch = "second";
  abandon_run(folder, again, 3, false);
  note_exit(folder, again, 3);
  EXPECT_EQ(read_text(folder + "/run.json"), before);
}

// Training decides what is `auto` and writes recipe.yaml with it.
TEST_F(RunFolder, OfAnUnfinishedRunIsFoundByTheRecipeAsItWasAskedFor) {
  const auto folder = make_run_folder(runs_, start_);
  begin_run(folder, start_, "abc");
  write_recipe(folder, start_.recipe_text + "batch: {accumulate: 4}\n");
  EXPECT_EQ(unfinished_run(runs_, "shapes", start_.recipe_text), folder);
  auto changed = start_;
  changed.launch = "second";
  changed.recipe_text += "seed: 2\n";
  begin_run(folder, changed, "abc");  // the same recipe, resumed
  EXPECT_EQ(unfinished_run(runs_, "shapes", start_.recipe_text), folder);
  changed.launch = "third";
  changed.new_recipe = true;
  begin_run(folder, changed, "abc");
  EXPECT_EQ(unfinished_run(runs_, "shapes", start_.recipe_text), std::nullopt);
  EXPECT_EQ(unfinished_run(runs_, "shapes", changed.recipe_text), folder);
}

TEST_F(RunFolder, HasTheThreadsOfTheStartThatBegan) {
  const auto folder = make_run_folder(runs_, start_);
  start_.threads = 3;
  begin_run(folder, start_, "abc");
  EXPECT_EQ(record(folder).at("threads"), 3);
}

TEST_F(RunFolder, NamesTheRunThatItContinues) {
  start_.origin = {"/runs/shapes/001", "step-00000004"};
  const auto origin = record(make_run_folder(runs_, start_)).at("origin");
  EXPECT_EQ(origin.at("run"), "/runs/shapes/001");
  EXPECT_EQ(origin.at("checkpoint"), "step-00000004");
}

TEST_F(RunFolder, HoldsRecipeSourcesAndCommand) {
  const auto folder = make_run_folder(runs_, start_);
  EXPECT_EQ(read_text(folder + "/recipe.yaml"), start_.recipe_text);
  EXPECT_EQ(read_text(folder + "/source/shapes.yaml"), "name: shapes\n");
  EXPECT_EQ(read_text(folder + "/source/2-shapes.yaml"), "x: 1\n");
  EXPECT_THAT(read_text(folder + "/source/command.sh"),
              HasSubstr("\nddptrain run configs/shapes.yaml 'model={type: mlp}'\n"));
  EXPECT_TRUE(fs::is_directory(folder + "/checkpoints"));
}

RunJson ended(RunJson run, const std::string& result, NamedValues metrics, int exit_code) {
  run.result = result;
  run.metrics = std::move(metrics);
  run.exit_code = exit_code;
  return run;
}

TEST_F(RunFolder, RecordsHowTheRunBeganAndEnded) {
  const auto folder = make_run_folder(runs_, start_);
  EXPECT_EQ(record(folder).at("seed"), 7);
  EXPECT_TRUE(record(folder).at("exit_code").is_null());
  begin_run(folder, start_, "abc");
  auto begun = begin_run(folder, start_, "abc");  // as ranks that are started again do
  end_run(folder, ended(begun, "interrupted", {{"valid/accuracy", 0.5}}, 143));
  const auto text = read_text(folder + "/run.json");
  note_exit(folder, start_, 143);
  EXPECT_EQ(read_text(folder + "/run.json"), text) << "it is known";
  start_.launch = "second";
  begun = begin_run(folder, start_, "abc");
  EXPECT_TRUE(record(folder).at("exit_code").is_null());
  end_run(folder, ended(begun, "done", {{"valid/accuracy", 0.75}}, 0));
  const auto json = record(folder);
  EXPECT_EQ(json.at("data_digest"), "abc");
  EXPECT_EQ(json.at("result"), "done");
  EXPECT_EQ(json.at("exit_code"), 0);
  EXPECT_EQ(json.at("metrics").at("valid/accuracy"), 0.75);
  EXPECT_EQ(json.at("attempts").at(0).at("exit_code"), 143);
  EXPECT_EQ(json.at("attempts").at(0).at("result"), "interrupted");
}

// A rank that has written its end may yet be killed, or another one fail.
TEST_F(RunFolder, HasTheExitCodeOfTheWholeLaunch) {
  const auto folder = make_run_folder(runs_, start_);
  end_run(folder, ended(begin_run(folder, start_, "abc"), "done", {}, 0));
  note_exit(folder, start_, 137);
  EXPECT_EQ(record(folder).at("exit_code"), 137);
  EXPECT_EQ(record(folder).at("result"), "done");
  begin_run(folder, start_, "abc");  // its ranks are started again
  EXPECT_TRUE(record(folder).at("exit_code").is_null());
  EXPECT_TRUE(record(folder).at("ended").is_null());
  EXPECT_TRUE(record(folder).at("attempts").empty());
}

TEST_F(RunFolder, RecordsTheKeysOfTheFormatInTheirOrder) {
  start_.origin = {"/runs/shapes/001", "step-00000004"};
  const auto text =
      nlohmann::ordered_json::parse(read_text(make_run_folder(runs_, start_) + "/run.json"));
  std::vector<std::string> keys;
  for (const auto& [key, value] : text.items()) keys.push_back(key);
  EXPECT_THAT(
      keys, testing::ElementsAre("format", "name", "seed", "recipe_digest", "data_digest", "launch",
                                 "started", "began", "ended", "seconds", "result", "exit_code",
                                 "command", "folder", "ddptrain", "torch", "compiler", "host",
                                 "device", "ranks", "replicas", "threads", "transport", "metrics",
                                 "evaluated", "best", "origin", "attempts"));
}

/// Of the first versions, without the keys that came later.
TEST_F(RunFolder, OfAnEarlierVersionIsTakenUp) {
  const auto folder = make_run_folder(runs_, start_);
  std::ofstream(folder + "/run.json") << R"({"format": 1, "name": "shapes", "seed": 7,
    "started": "2026-01-01T00:00:00Z", "ended": "2026-01-01T00:01:00Z", "result": "interrupted",
    "exit_code": 130, "metrics": {"valid/loss": null}, "attempts": []})";
  EXPECT_EQ(unfinished_run(runs_, "shapes", start_.recipe_text), folder);
  begin_run(folder, start_, "abc");
  const auto json = record(folder);
  EXPECT_EQ(json.at("launch"), "first");
  EXPECT_TRUE(json.at("metrics").empty());
  const auto before = json.at("attempts").at(0);
  EXPECT_EQ(before.at("exit_code"), 130);
  EXPECT_EQ(before.at("result"), "interrupted");
  EXPECT_TRUE(before.at("began").is_null());
  EXPECT_FALSE(before.contains("whole_seconds"));
}

TEST_F(RunFolder, ThatCannotBeMadeIsNamed) {
  std::ofstream(runs_ + "/file") << "";
  try {
    make_run_folder(runs_ + "/file", start_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_STREQ(error.what(),
                 ("cannot make the folder '" + runs_ + "/file/shapes': not a directory").c_str());
  }
}

TEST_F(RunFolder, OfAnUnfinishedRunOfTheSameRecipeIsFound) {
  EXPECT_EQ(unfinished_run(runs_, "shapes", start_.recipe_text), std::nullopt);
  const auto killed = make_run_folder(runs_, start_);
  const auto done = make_run_folder(runs_, start_);
  EXPECT_EQ(unfinished_run(runs_, "shapes", start_.recipe_text), std::nullopt) << "neither began";
  begin_run(killed, start_, "abc");
  begin_run(done, start_, "abc");
  note_exit(done, start_, 0);
  EXPECT_EQ(unfinished_run(runs_, "shapes", start_.recipe_text), killed);
  EXPECT_EQ(unfinished_run(runs_, "shapes", "another\n"), std::nullopt);
  note_exit(killed, start_, 6);  // short of what was expected, but trained
  EXPECT_EQ(unfinished_run(runs_, "shapes", start_.recipe_text), std::nullopt);
}

TEST_F(RunFolder, ThatAProcessWorksInIsNotOfferedAndNotSharedOut) {
  const auto folder = make_run_folder(runs_, start_);
  begin_run(folder, start_, "abc");
  const auto lock = lock_run(folder);
  EXPECT_EQ(unfinished_run(runs_, "shapes", start_.recipe_text), std::nullopt);
  EXPECT_THROW(lock_run(folder), Error);
}

TEST_F(RunFolder, IsFreeOnceTheRanksOfAKilledLauncherHaveEnded) {
  const auto folder = make_run_folder(runs_, start_);
  auto lock = lock_run(folder);
  std::thread rank([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    lock.reset();
  });
  EXPECT_TRUE(lock_run(folder)->held());
  rank.join();
}

}  // namespace
}  // namespace ddptrain
