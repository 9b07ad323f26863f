#include "base/files/file_use.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

TEST(FileUse, KeepsAFileFromBeingRemoved) {
  const TemporaryFolder folder;
  const auto path = folder.write("file", "x");
  {
    const FileUse use(path);
    EXPECT_FALSE(removed_unless_in_use(path));
    EXPECT_FALSE(remove_unused(path));
  }
  EXPECT_TRUE(removed_unless_in_use(path));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(removed_unless_in_use(path)) << "it is gone already";
}

// Else two processes would hold locks of the same name: one on the removed file, one on the new.
TEST(FileLock, WaitsAtTheNewFileWhereTheOldOneIsRemoved) {
  const TemporaryFolder folder;
  const auto path = folder / "lock";
  auto first = std::make_unique<FileLock>(path);
  std::thread second([&] {
    const FileLock lock(path);
    EXPECT_TRUE(FileLock::is_taken(path));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it waits, as a rule
  std::filesystem::remove(path);
  first.reset();
  second.join();
  EXPECT_TRUE(std::filesystem::exists(path)) << "the waiting one made and locked it";
}

TEST(FileLock, IsRemovedWhereNothingHoldsIt) {
  const TemporaryFolder folder;
  const auto path = folder / "lock";
  {
    const FileLock lock(path);
    EXPECT_FALSE(remove_free_lock(path));
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_TRUE(remove_free_lock(path));
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace ddptrain
