#include "train/results/repetition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/files/files.h"
#include "base/text.h"
#include "support/numbers.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SeriesRun member(const std::string& name, const NamedValues& metrics,
                 const std::optional<BestEvaluation>& best = {}, const std::string& folder = "") {
  SeriesRun made{name, {}};
  made.run.metrics = metrics;
  made.run.best = best;
  made.run.folder = folder;
  return made;
}

TEST(MembersTable, EndsWithMeanAndDeviation) {
  EXPECT_EQ(members_table("seed", {member("7", {{"valid/loss", 0.5}, {"valid/acc", 2}}),
                                   member("8", {{"valid/loss", 0.25}, {"valid/acc", 4}}),
                                   member("9", {{"valid/loss", 0}, {"valid/acc", 9}})}),
            "seed        valid/loss  valid/acc\n"
            "7                  0.5          2\n"
            "8                 0.25          4\n"
            "9                    0          9\n"
            "mean              0.25          5\n"
            "deviation         0.25     3.6056\n");  // sqrt(13)
}

TEST(MembersTable, LeavesOutASeedWithoutMetrics) {
  EXPECT_THAT(members_table("seed", {member("1", {{"valid/loss", 2}}), member("2", {}),
                                     member("3", {{"valid/loss", 4}})}),
              HasSubstr("2                    -\n"
                        "3                    4\n"
                        "mean                 3\n"
                        "deviation       1.4142\n"));
}

TEST(MembersTable, CallsRunsAsTheyAreTold) {
  EXPECT_EQ(
      members_table("fold", {member("1", {{"valid/loss", 2}}), member("2", {{"valid/loss", 4}})}),
      "fold        valid/loss\n"
      "1                    2\n"
      "2                    4\n"
      "mean                 3\n"
      "deviation       1.4142\n");  // sqrt(2)
}

TEST(MembersTable, CutsNoNumberAtAnyWidth) {
  const std::vector<SeriesRun> results{
      member("7",
             {{"valid/loss", 1.0771234e-05}, {"valid/accuracy", 0.98765}, {"valid/r2", -3.25}}),
      member("8", {{"valid/loss", 107712.34}, {"valid/accuracy", 0.12345}, {"valid/r2", 0.5}})};
  const auto wide = members_table("seed", results);
  for (std::size_t columns = 20; columns <= 90; ++columns)
    for (const auto& line : split(members_table("seed", results, columns), '\n')) {
      EXPECT_LE(line.size(), columns) << line;
      EXPECT_THAT(test::broken_numbers(line, wide), IsEmpty()) << columns << ": " << line;
    }
}

TEST(MembersTable, SaysHowManyMetricsItLeavesOut) {
  NamedValues many;
  for (int i = 0; i < 10; ++i) many.emplace_back("m" + std::to_string(i), i);
  EXPECT_THAT(members_table("seed", {member("1", many), member("2", many)}),
              HasSubstr("\nand 2 more"));
}

TEST(MembersTable, HasTheBestEvaluationsToo) {
  const BestEvaluation best{"valid/acc", BestMode::max, 20, {{"valid/acc", 3}}};
  const BestEvaluation later{"valid/acc", BestMode::max, 40, {{"valid/acc", 5}}};
  EXPECT_THAT(best_members_table("seed", {member("1", {}, best), member("2", {}, later)}),
              HasSubstr("best weights by valid/acc (larger is better)\n"
                        "seed             step  valid/acc\n"
                        "1                  20          3\n"
                        "2                  40          5\n"
                        "mean                -          4\n"));
  EXPECT_EQ(best_members_table("seed", {member("1", {{"valid/acc", 3}})}), "");
}

TEST(MembersCsv, HasEveryDigitOfBothTables) {
  const BestEvaluation best{"valid/acc", BestMode::max, 20, {{"valid/acc", 0.75}}};
  const BestEvaluation later{"valid/acc", BestMode::max, 40, {{"valid/acc", 0.25}}};
  EXPECT_EQ(members_csv("fold", {member("1", {{"valid/loss", 0.125}}, best, "runs/net/001"),
                                 member("2", {}, later, "runs/a,b/002"),
                                 member("3", {{"valid/loss", 2.125}}, {}, "runs/net/003")}),
            "fold,run,valid/loss,best/step,best/valid/acc\n"
            "1,runs/net/001,0.125,20,0.75\n"
            "2,\"runs/a,b/002\",,40,0.25\n"
            "3,runs/net/003,2.125,,\n"
            "mean,,1.125,,0.5\n"
            "deviation,,1.4142135623730951,,0.3535533905932738\n");
}

TEST(MembersCsv, HasAllMetricsHoweverMany) {
  NamedValues many;
  for (int i = 0; i < 10; ++i) many.emplace_back("m" + std::to_string(i), i);
  EXPECT_THAT(members_csv("seed", {member("1", many), member("2", many)}),
              HasSubstr("seed,run,m0,m1,m2,m3,m4,m5,m6,m7,m8,m9\n"));
}

TEST(Repetition, WritesItsTableNextToItsRuns) {
  const TemporaryFolder folder;
  make_folders(folder.path() + "/net");
  const Repetition series(folder.path(), "net", "a", 2);
  const std::vector<SeriesRun> results{member("1", {{"valid/loss", 2}}),
                                       member("2", {{"valid/loss", 4}})};
  EXPECT_EQ(series.write_table("fold", results), folder.path() + "/net/folds.csv");
  EXPECT_EQ(read_text(folder.path() + "/net/folds.csv"), members_csv("fold", results));
}

TEST(Repetition, RemembersItsFoldersUntilItIsFinished) {
  const TemporaryFolder folder;
  const auto home = folder.path() + "/net";
  for (const auto* run : {"/001", "/002"}) {
    make_folders(home + run);
    write_atomically(home + run + "/run.json", "{}");
  }
  const auto open = [&](const std::string& recipe, std::int64_t count) {
    return Repetition(folder.path(), "net", recipe, count).folders();
  };
  Repetition first(folder.path(), "net", "a: 1\n", 3);
  first.add(home + "/001");
  first.add(home + "/002");
  EXPECT_THAT(open("a: 1\n", 3), ElementsAre(home + "/001", home + "/002"));
  EXPECT_THAT(open("a: 2\n", 3), IsEmpty());
  EXPECT_THAT(open("a: 1\n", 4), IsEmpty());
  first.finish();
  EXPECT_THAT(open("a: 1\n", 3), IsEmpty());
}

TEST(Repetition, BeginsAnewWhereAFolderIsGoneOrTheRecordIsDamaged) {
  const TemporaryFolder folder;
  make_folders(folder.path() + "/net");
  Repetition(folder.path(), "net", "a", 2).add(folder.path() + "/net/001");
  EXPECT_THAT(Repetition(folder.path(), "net", "a", 2).folders(), IsEmpty());
  write_atomically(folder.path() + "/net/repeat.json", "[1");
  EXPECT_THAT(Repetition(folder.path(), "net", "a", 2).folders(), IsEmpty());
}

}  // namespace
}  // namespace ddptrain
