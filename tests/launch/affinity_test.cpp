#include "launch/affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const CoresByNode kTwoNodes{{0, 1, 2, 3}, {4, 5, 6, 7}};

TEST(Cores, AreReadAsLinuxListsThem) {
  EXPECT_THAT(read_cores("0-3,8,10-11\n"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(read_cores(""), IsEmpty());
  EXPECT_THAT(read_cores("a-3"), IsEmpty());
  EXPECT_EQ(to_text(std::vector<int>{0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

TEST(Cores, OfARankAreOfOneNode) {
  EXPECT_THAT(share_of_cores(kTwoNodes, 0, 2), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(share_of_cores(kTwoNodes, 1, 2), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(share_of_cores(kTwoNodes, 1, 4), ElementsAre(2, 3));
  EXPECT_THAT(share_of_cores(kTwoNodes, 2, 4), ElementsAre(4, 5));
  EXPECT_THAT(share_of_cores(kTwoNodes, 1, 3), ElementsAre(2, 3));
  EXPECT_THAT(share_of_cores(kTwoNodes, 2, 3), ElementsAre(4, 5, 6, 7));
}

TEST(Cores, OfFewRanksAreOfSeveralNodes) {
  EXPECT_THAT(share_of_cores(kTwoNodes, 0, 1), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(share_of_cores({{0}, {1}, {2}}, 1, 2), ElementsAre(1, 2));
}

TEST(Cores, AreSharedWhereRanksOutnumberThem) {
  for (int rank = 0; rank < 5; ++rank)
    EXPECT_EQ(share_of_cores({{4, 6}}, rank, 5).size(), 1U) << rank;
}

TEST(Cores, AreEachGivenOnce) {
  std::multiset<int> given;
  for (int rank = 0; rank < 3; ++rank)
    for (const int core : share_of_cores({{0, 1, 2, 3, 4, 5, 6}}, rank, 3)) given.insert(core);
  EXPECT_THAT(given, ElementsAre(0, 1, 2, 3, 4, 5, 6));
}

TEST(Cores, OfAThreadAreThoseThatItWasBoundTo) {
  std::thread([] {
    const int last = usable_cores().back().back();
    bind_to({last});
    EXPECT_THAT(usable_cores(), ElementsAre(ElementsAre(last)));
  }).join();
}

}  // namespace
}  // namespace ddptrain
