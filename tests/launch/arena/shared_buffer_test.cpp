#include "launch/arena/shared_buffer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

namespace ddptrain {
namespace {

constexpr std::size_t kBytes = 1 << 20;

std::int64_t bytes_in_use(int file) {
  struct stat status {};
  ::fstat(file, &status);
  return std::int64_t{status.st_blocks} * 512;
}

TEST(SharedBuffer, IsSeenByEveryMemberAndFreedAtItsEnd) {
  const int file = make_buffer_file();
  const std::array<int, 2> ranks{1, 3};
  {
    SharedBuffer first({file, kBytes, kBytes}, ranks, 0), second({file, kBytes, kBytes}, ranks, 1);
    ASSERT_TRUE(first.is_reserved() && second.is_reserved());
    ASSERT_TRUE(first.map() && second.map());
    EXPECT_EQ(second.of(0)[kBytes - 1], std::byte{0});
    first.of(0)[kBytes - 1] = std::byte{7};
    first.of(1)[0] = std::byte{8};
    EXPECT_EQ(second.of(0)[kBytes - 1], std::byte{7});
    EXPECT_EQ(second.of(1)[0], std::byte{8});
    EXPECT_EQ(bytes_in_use(file), 2 * std::int64_t{kBytes});
  }
  EXPECT_EQ(bytes_in_use(file), 0);
  ::close(file);
}

TEST(SharedBuffer, SaysThatItCannotBeReserved) {
  SharedBuffer buffer({-1, 0, kBytes}, std::array<int, 1>{0}, 0);
  EXPECT_FALSE(buffer.is_reserved());
}

// Beyond the limit a signal would end the process.
TEST(SharedBuffer, IsNoneWhereFilesHaveALimit) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limited = before;
  limited.rlim_cur = 1 << 30;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
  const int file = make_buffer_file();
  EXPECT_FALSE(SharedBuffer({file, 0, kBytes}, std::array<int, 1>{3}, 0).is_reserved());
  ::close(file);
  ::setrlimit(RLIMIT_FSIZE, &before);
}

}  // namespace
}  // namespace ddptrain
