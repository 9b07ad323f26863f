#include "base/files/free_space.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

TEST(FreeSpace, IsThatOfTheNearestFolderThatIsThere) {
  const TemporaryFolder home;
  EXPECT_EQ(existing_folder(home.path()), home.path());
  EXPECT_EQ(existing_folder(home / "runs/small/001"), home.path());
  const auto space = free_space(home / "runs/small");
  EXPECT_EQ(space.folder, home.path());
  EXPECT_EQ(space.unknown, "");
  EXPECT_LE(space.bytes, static_cast<std::int64_t>(std::filesystem::space(home.path()).capacity));
  EXPECT_GT(space.bytes, 0);
}

TEST(FreeSpace, IsLookedForFromTheCurrentFolder) {
  EXPECT_EQ(existing_folder("there-is-no-such-folder"), std::filesystem::current_path());
}

}  // namespace
}  // namespace ddptrain
