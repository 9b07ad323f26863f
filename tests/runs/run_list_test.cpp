#include "runs/run_list.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

TEST(RunList, FindsRunsAndSweepsInOrder) {
  const TemporaryFolder folder;
  for (const auto* run : {"runs/b/002", "runs/b/010", "runs/b/1000", "runs/a/001",
                          "runs/a/sweep-001/001-2", "runs/a/sweep-001/001-1"})
    folder.write(std::string(run) + "/run.json", "{}");
  folder.write("runs/a/sweep-001/sweep.json", "{}");
  folder.write("runs/a/sweep-001/output/001.txt", "");
  folder.write("runs/killed/001/recipe.yaml", "");
  folder.write("runs/killed/001/checkpoints/x", "");
  folder.write("runs/empty/notes.txt", "");
  std::filesystem::create_directory_symlink("002", folder / "runs/b/latest");

  std::vector<std::string> found;
  for (const auto& each : find_runs(folder / "runs")) {
    found.push_back(each.path.substr(folder.path().size() + 1));
    EXPECT_EQ(each.is_sweep, found.back() == "runs/a/sweep-001");
    EXPECT_EQ(each.runs.size(), each.is_sweep ? 2u : 0u);
  }
  EXPECT_EQ(found, (std::vector<std::string>{"runs/a/001", "runs/a/sweep-001", "runs/b/002",
                                             "runs/b/010", "runs/b/1000", "runs/killed/001"}));
  EXPECT_EQ(find_runs(folder / "runs/b/002").size(), 1u);
  EXPECT_EQ(find_runs(folder / "runs/empty").size(), 0u);
  EXPECT_THROW(find_runs(folder / "none"), Error);
}

}  // namespace
}  // namespace ddptrain
