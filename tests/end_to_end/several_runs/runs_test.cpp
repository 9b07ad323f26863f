// `runs` and `compare`: what run folders tell, also of runs that go on or were killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files/files.h"
#include "end_to_end/program.h"
#include "support/numbers.h"

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
  EXPECT_THAT(compared.out,
              testing::HasSubstr("\n      small/001  small/002\nseed          1          2\n"));
  EXPECT_THAT(
      compared.out,
      testing::HasSubstr("\nmean ± deviation over the seeds 1, 2 of small/001, small/002\n"));
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

/// A run folder as training leaves it. `more` changes run.json.
void make_run(const Folder& folder, const std::string& name, const std::string& recipe,
              double score, const Json& more = Json::object()) {
  Json record{{"name", "net"},
              {"began", "2026-01-01T00:00:0" + name.substr(name.size() - 1) + "Z"},
              {"ended", "2026-01-01T00:00:00Z"},
              {"seconds", 0.4375},
              {"result", "done"},
              {"exit_code", 0},
              {"metrics", {{"valid/loss", 2 * score}, {"valid/mse", score}}},
              {"evaluated", 54},
              {"best",
               {{"metric", "valid/mse"},
                {"mode", "min"},
                {"step", 36},
                {"metrics", {{"valid/loss", score}, {"valid/mse", score / 2}}}}}};
  record.update(more);
  const auto path = folder / "runs/net/" + name;
  write(path + "/run.json", record.dump());
  write(path + "/recipe.yaml", "name: net\n" + recipe);
  write(path + "/events.jsonl", R"({"event":"begin","step":0,"total_steps":54})"
                                "\n"
                                R"({"event":"step","step":54,"time":"2026-01-01T00:00:09Z"})"
                                "\n");
}

TEST(Runs, CountASeedOnceAndNoRunThatDidNotEnd) {
  const Folder folder;
  make_run(folder, "001", "seed: 42\n", 117260);
  make_run(folder, "002", "seed: 42\n", 117260);
  make_run(folder, "003", "seed: 42\n", 150000, {{"result", "interrupted"}, {"exit_code", 130}});
  const auto one = run({"runs"}, folder.path());
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, testing::Not(testing::HasSubstr("±"))) << one.out;
  const auto compared = run({"compare", "runs/net"}, folder.path());
  EXPECT_THAT(compared.out, testing::Not(testing::HasSubstr("±"))) << compared.out;
  EXPECT_THAT(compared.out, testing::HasSubstr("no mean over seeds: seed 42 alone"));
  EXPECT_THAT(compared.out,
              testing::HasSubstr("2 runs left out: net/001 repeats seed 42, net/003 interrupted"));
  make_run(folder, "004", "seed: 7\n", 117200);
  // statistics.mean and stdev of [117260, 117200]
  EXPECT_THAT(run({"runs"}, folder.path()).out,
              testing::HasSubstr("valid/mse 117230 ± 42 (mean ± standard deviation) over 2 "
                                 "seeds: net/002, net/004; 2 runs "
                                 "left out"));
}

TEST(Runs, AreJudgedByTheWeightsThatAreTheirResult) {
  const Folder folder;
  make_run(folder, "001", "seed: 1\n", 8);
  make_run(folder, "002", "checkpoint: {keep_best: {metric: valid/mse, mode: min}}\n", 10);
  const auto all = listed_runs({"--sort", "value"}, folder);
  EXPECT_EQ(all[0]["run"], "runs/net/002");  // 5 at its best, which is kept, against 8 at the last
  EXPECT_EQ(all[0]["scores"]["weights"], "best weights");
  EXPECT_EQ(all[0]["scores"]["step"], 36);
  EXPECT_EQ(all[0]["scores"]["metrics"]["valid/mse"], 5);
  EXPECT_EQ(all[1]["scores"]["weights"], "last weights");
  EXPECT_EQ(all[1]["scores"]["metrics"]["valid/mse"], 8);
  EXPECT_EQ(all[0]["seconds"], 0.4375);
  const auto text = run({"runs"}, folder.path()).out;
  EXPECT_THAT(text,
              testing::HasSubstr(
                  "\nruns/net/001   done    54          8  last weights (54)  0.4 s  seed=1\n"));
  EXPECT_THAT(text, testing::HasSubstr(
                        "\nruns/net/002   done    54          5  best weights (36)  0.4 s  "
                        "checkpoint.keep_best.metric=valid/mse checkpoint.keep_best.mode=min\n"));
  EXPECT_THAT(text,
              testing::HasSubstr(
                  "\nvalid/mse: smaller is better. Values are those of the best weights where "
                  "checkpoint.keep_best keeps them, else of the last.\n"));
}

TEST(Runs, CutNoNumberOnATerminalOfAnyWidth) {
  const Folder folder;
  for (int i = 1; i <= 4; ++i)
    make_run(
        folder, "00" + std::to_string(i),
        "seed: " + std::to_string(i) + "\noptimizer: {lr: 0.00" + std::to_string(1234 + i) + "}\n",
        117260.5 * i);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"runs"}, {"compare", "runs/net"}}) {
    const auto wide = run(words, folder.path()).out;
    for (const int columns : {20, 27, 40, 55, 80, 131, 200}) {
      const auto text = stdout_on_terminal(words, folder.path(), columns);
      EXPECT_THAT(text, testing::HasSubstr("net/001")) << words[0] << columns;
      EXPECT_THAT(test::broken_numbers(text, wide), testing::IsEmpty()) << columns << ":\n" << text;
    }
  }
}

TEST(Runs, SayWhatIsNotThere) {
  const Folder folder;
  const auto none = run({"runs"}, folder.path());
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, testing::HasSubstr("'runs' is not a run folder"));
  write(folder / "runs/x/001/run.json", "{}");
  write(folder / "small.yaml", small_recipe());
  const auto typo = run({"runs", "--sort", "stat"}, folder.path());
  EXPECT_EQ(typo.code, 2);
  EXPECT_EQ(typo.err,
            "error: --sort: no run has a column, metric or option 'stat'; did you mean 'state'?\n");
  const auto condition = run({"runs", "--where", "state"}, folder.path());
  EXPECT_EQ(condition.code, 2);
  EXPECT_EQ(condition.err,
            "error: --where: 'state' is no condition; write 'state=done', 'optimizer.lr>=1e-3' or "
            "'valid/loss<0.5'\n");
  const auto recipe = run({"compare", "small.yaml", "small.yaml"}, folder.path());
  EXPECT_EQ(recipe.code, 2);
  EXPECT_EQ(recipe.err,
            "error: 'small.yaml' is a file; compare takes run folders, and 'ddptrain diff A B' "
            "says how two recipes differ\n");
  EXPECT_EQ(run({"compare", "runs/x/001"}, folder.path()).code, 2);
}

}  // namespace
}  // namespace ddptrain::end_to_end
