// Run folders that earlier versions wrote (tests/golden/runs): this version resumes, scores,
// reports and exports them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

#include "base/version.h"
#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

namespace fs = std::filesystem;

/// The versions whose folders are kept.
std::vector<std::string> kept_versions() {
  std::vector<std::string> versions;
  for (const auto& entry : fs::directory_iterator(test::in_source("tests/golden/runs")))
    if (entry.is_directory()) versions.push_back(entry.path().filename().string());
  return versions;
}

std::string kept_file(const std::string& name) {
  return test::in_source("tests/golden/runs/" + name);
}

/// Columns of metrics.csv that are results, by step.
using Scores = std::map<int, std::map<std::string, double>>;

Scores scores_in(const std::string& csv) {
  std::istringstream lines(csv);
  std::string line, cell;
  std::vector<std::string> names;
  Scores scores;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::map<std::string, double> row;
    for (std::size_t i = 0; std::getline(cells, cell, ','); ++i) {
      if (names.size() <= i && scores.empty())
        names.push_back(cell);
      else if (names[i] == "step" || names[i].starts_with("valid") || names[i] == "train/loss")
        row[names[i]] = cell.empty() ? 0 : std::stod(cell);
    }
    if (row.contains("step")) scores[static_cast<int>(row["step"])] = row;
  }
  return scores;
}

void expect_scores(const Scores& found, const Scores& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [step, row] : expected) {
    ASSERT_TRUE(found.contains(step)) << step;
    ASSERT_GT(row.size(), 3U);
    for (const auto& [name, value] : row)
      EXPECT_NEAR(found.at(step).at(name), value, 1e-9 * std::abs(value)) << step << " " << name;
  }
}

class KeptRuns : public testing::TestWithParam<std::string> {
 protected:
  KeptRuns() {
    fs::copy(kept_file(GetParam() + "/run"), folder_ / "run",
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    fs::copy(kept_file("houses.csv"), folder_ / "houses.csv");
  }

  Ended on_run(std::vector<std::string> words) const {
    const auto ended = run(words, folder_.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended;
  }

  Folder folder_;
};

TEST_P(KeptRuns, GoOnAsTheyWouldHaveThen) {
  on_run({"resume", "run", "data.file=houses.csv", "train.duration=12 steps"});
  expect_scores(scores_in(read(folder_ / "run/metrics.csv")),
                scores_in(read(kept_file(GetParam() + "/expected.csv"))));
}

// To the digits that eval prints.
TEST_P(KeptRuns, HaveTheirScores) {
  const auto ended = on_run({"eval", "run", "data.file=houses.csv"});
  EXPECT_THAT(ended.out, testing::HasSubstr("valid/rmse")) << ended.err;
  char rmse[32];
  const auto kept = scores_in(read(folder_ / "run/metrics.csv"));
  std::snprintf(rmse, sizeof rmse, "%.4f", kept.at(6).at("valid/rmse"));
  EXPECT_THAT(ended.out, testing::HasSubstr(rmse)) << ended.err;
}

TEST_P(KeptRuns, AreReportedAndListed) {
  on_run({"report", "run"});
  EXPECT_THAT(read(folder_ / "run/report.html"), testing::HasSubstr("rmse"));
  EXPECT_THAT(on_run({"runs", "run", "--format", "json"}).out, testing::HasSubstr("\"done\""));
}

TEST_P(KeptRuns, AreExported) {
  on_run({"checkpoint", "verify", "run"});
  on_run({"export", "run", "weights.safetensors"});
  EXPECT_GT(fs::file_size(folder_ / "weights.safetensors"), 500U);
}

TEST_P(KeptRuns, PredictEveryRow) {
  const auto rows = read(folder_ / "houses.csv");
  const auto predictions = on_run({"predict", "run", "houses.csv"}).out;
  EXPECT_EQ(std::count(predictions.begin(), predictions.end(), '\n'),
            std::count(rows.begin(), rows.end(), '\n'));
}

INSTANTIATE_TEST_SUITE_P(Versions, KeptRuns, testing::ValuesIn(kept_versions()),
                         [](const auto& version) {
                           auto name = version.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(NewerRunFolders, AreRefusedByEveryVerbThatReadsOne) {
  const Folder folder;
  fs::copy(kept_file("0.1.0/run"), folder / "run", fs::copy_options::recursive);
  auto record = read(folder / "run/run.json");
  const std::string ours = "\"ddptrain\": \"0.1.0\"";
  ASSERT_NE(record.find(ours), std::string::npos);
  record.replace(record.find(ours), ours.size(), "\"ddptrain\": \"99.1.0\"");
  write(folder / "run/run.json", record);
  const auto refusal = "error: '" + fs::canonical(folder / "run").string() +
                       "' was written by ddptrain 99.1.0 and cannot be read by this one, " +
                       version() + "; install a version that is at least as new\n";
  for (const std::vector<std::string>& words : {std::vector<std::string>{"resume", "run"},
                                                {"eval", "run"},
                                                {"predict", "run", "."},
                                                {"export", "run", "w.safetensors"},
                                                {"report", "run"}}) {
    const auto ended = run(words, folder.path());
    EXPECT_EQ(ended.err, refusal) << words[0];
    EXPECT_EQ(ended.code, 3) << words[0];
  }
}

}  // namespace
}  // namespace ddptrain::end_to_end
