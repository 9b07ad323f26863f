#include "sources/files/read_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddptrain {
namespace {

using Reads = std::vector<std::int32_t>;
const std::vector<std::string> kFiles{"a", "b", "c", "d"};

TEST(ReadPlan, WantsAFileUntilItsLastRead) {
  ReadPlan plan;
  plan.announce(0, kFiles, Reads{0, 1, 0});
  EXPECT_TRUE(plan.is_wanted("a"));
  EXPECT_FALSE(plan.is_wanted("c"));
  EXPECT_TRUE(plan.did_read("a"));
  EXPECT_FALSE(plan.did_read("b"));
  EXPECT_FALSE(plan.did_read("a"));
  EXPECT_FALSE(plan.is_wanted("a"));
  EXPECT_FALSE(plan.did_read("d"));
}

TEST(ReadPlan, CountsAReadOnceAndKeepsWhatAnotherReaderWants) {
  ReadPlan plan;
  plan.announce(0, kFiles, Reads{0});
  plan.announce(1, kFiles, Reads{0, 0});
  EXPECT_TRUE(plan.did_read("a"));   // of reader 0
  EXPECT_TRUE(plan.did_read("a"));   // of reader 1
  EXPECT_FALSE(plan.did_read("a"));  // and its last
}

TEST(ReadPlan, AnAnnouncementReplacesTheOneBefore) {
  ReadPlan plan;
  plan.announce(0, kFiles, Reads{0, 1});
  plan.announce(0, kFiles, Reads{2, 3, 2});
  EXPECT_FALSE(plan.is_wanted("a"));
  std::vector<std::string> order;
  plan.visit([&](int, const std::string& file) {
    order.push_back(file);
    return true;
  });
  EXPECT_THAT(order, testing::ElementsAre("c", "d"));
}

// a: 1 byte, b: 2, c: 4, d: 8. Between their first and last reads: a and b, b and c, d alone.
TEST(ReadPlan, KnowsHowManyBytesAreOpenAtOnce) {
  const auto size = [](const std::string& file) { return std::uint64_t{1} << (file[0] - 'a'); };
  EXPECT_EQ(bytes_at_once(kFiles, Reads{0, 1, 0, 1, 2, 1, 2, 2}, size), 2 + 4);
  EXPECT_EQ(bytes_at_once(kFiles, Reads{0, 0, 1, 1, 2, 3}, size), 8);
  EXPECT_EQ(bytes_at_once(kFiles, Reads{0, 1, 2, 3, 0}, size), 1 + 8);
  EXPECT_EQ(bytes_at_once(kFiles, Reads{}, size), 0);
}

}  // namespace
}  // namespace ddptrain
