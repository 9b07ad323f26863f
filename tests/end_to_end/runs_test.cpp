// `runs` and `compare`: what run folders tell, also of runs that go on or were killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files/files.h"
#include "program.h"

namespace ddptrain::end_to_end {
namespace {

using Json = nlohmann::json;

Json listed_runs(const std::vector<std::string>& words, const Folder& folder) {
  std::vector<std::string> arguments{"runs", "--format", "json"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  const auto ended = run(arguments, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(ended.out);
}

/// A folder as a killed process leaves it: without an end.
void kill_run(const std::string& folder) {
  auto json = Json::parse(read(folder + "/run.json"));
  json["exit_code"] = json["result"] = json["ended"] = nullptr;
  write(folder + "/run.json", json.dump());
}

TEST(Runs, ListsAndComparesWhatWasTrained) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  for (const auto* change : {"seed=1", "seed=2", "optimizer.lr=1e-4"}) {
    const auto trained = run({"run", "small.yaml", change}, folder.path(), environment());
    ASSERT_EQ(trained.code, 0) << trained.err;
  }
  const auto all = listed_runs({}, folder);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0]["run"], "runs/small/001");
  EXPECT_EQ(all[0]["state"], "done");
  EXPECT_EQ(all[0]["step"], all[0]["total_steps"]);
  EXPECT_EQ(all[1]["differs"]["seed"], "2");
  EXPECT_EQ(all[2]["differs"]["optimizer.lr"], "1e-4");
  const auto record = Json::parse(read(folder / "runs/small/002/run.json"));
  EXPECT_EQ(all[1]["metrics"], record["metrics"]);

  const auto slow =
      listed_runs({"runs/small", "--where", "optimizer.lr<=0.0001,state=done"}, folder);
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_EQ(slow[0]["run"], "runs/small/003");
  const auto sorted = listed_runs({"--sort", "valid/loss", "--columns", "valid/loss"}, folder);
  EXPECT_LE(sorted[0]["valid/loss"], sorted[1]["valid/loss"]);
  EXPECT_LE(sorted[1]["valid/loss"], sorted[2]["valid/loss"]);

  const auto compared = run({"compare", "runs/small/001", "runs/small/002"}, folder.path());
  ASSERT_EQ(compared.code, 0) << compared.err;
  EXPECT_THAT(compared.out, testing::HasSubstr("seed"));
  EXPECT_THAT(compared.out, testing::HasSubstr("mean ± deviation over the seeds"));
  const auto same = run({"compare", "runs/small/001", "runs/small/001"}, folder.path());
  EXPECT_THAT(same.out, testing::HasSubstr("The recipes are the same."));

  // Folders that a dead run left, and one that a run works in.
  kill_run(folder / "runs/small/001");
  write(folder / "runs/small/002/run.json", "{\"name\": ");
  kill_run(folder / "runs/small/003");
  const FileLock lock(folder / "runs/small/003/.lock");
  const auto torn = listed_runs({}, folder);
  EXPECT_EQ(torn[0]["state"], "killed");
  EXPECT_EQ(torn[1]["state"], "unknown");
  EXPECT_EQ(torn[2]["state"], "running");
}

TEST(Runs, SayWhatIsNotThere) {
  const Folder folder;
  const auto none = run({"runs"}, folder.path());
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, testing::HasSubstr("'runs' is no folder"));
  write(folder / "runs/x/001/run.json", "{}");
  write(folder / "small.yaml", small_recipe());
  const auto typo = run({"runs", "--sort", "stat"}, folder.path());
  EXPECT_EQ(typo.code, 2);
  EXPECT_THAT(typo.err, testing::HasSubstr("did you mean 'state'"));
  const auto condition = run({"runs", "--where", "state"}, folder.path());
  EXPECT_EQ(condition.code, 2);
  EXPECT_THAT(condition.err, testing::HasSubstr("is no condition"));
  const auto recipe = run({"compare", "small.yaml", "small.yaml"}, folder.path());
  EXPECT_EQ(recipe.code, 2);
  EXPECT_THAT(recipe.err, testing::HasSubstr("ddptrain diff A B"));
  EXPECT_EQ(run({"compare", "runs/x/001"}, folder.path()).code, 2);
}

}  // namespace
}  // namespace ddptrain::end_to_end
