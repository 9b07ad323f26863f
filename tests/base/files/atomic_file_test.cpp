#include "base/files/atomic_file.h"

#include <gmock/gmock.h>

#include <unistd.h>

#include <filesystem>

#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

TEST(ReplaceLink, LeadsToItsLastTargetAndLeavesNothingElse) {
  const TemporaryFolder folder;
  for (const std::string target : {"001", "002", "003"}) {
    EXPECT_FALSE(replace_link(folder / "latest", target));
    EXPECT_EQ(fs::read_symlink(folder / "latest"), target);
  }
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("latest"));
}

// The names that were used before, and any that can be guessed.
TEST(ReplaceLink, DoesNotTouchWhatSomebodyPutAtATemporaryName) {
  const TemporaryFolder folder;
  const std::vector<std::string> planted{".tmp-latest", ".tmp-best",
                                         ".latest-" + std::to_string(::getpid())};
  for (const auto& name : planted) fs::create_symlink("/nowhere", folder / name);
  EXPECT_FALSE(replace_link(folder / "latest", "001"));
  EXPECT_FALSE(replace_link(folder / "best", "step-1"));
  for (const auto& name : planted) EXPECT_EQ(fs::read_symlink(folder / name), "/nowhere");
  EXPECT_EQ(fs::read_symlink(folder / "best"), "step-1");
}

TEST(ReplaceLink, SaysWhyItCannotAndLeavesNothing) {
  const TemporaryFolder folder;
  EXPECT_EQ(replace_link(folder / "none/latest", "001"), std::errc::no_such_file_or_directory);
  fs::create_directory(folder / "latest");  // a user's folder is no link to replace
  EXPECT_TRUE(replace_link(folder / "latest", "001"));
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("latest"));
}

}  // namespace
}  // namespace ddptrain
