#include "launch/affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
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

/// A folder that stands for /sys, with one device.
class FakeSystem {
 public:
  FakeSystem(const std::string& address, const std::string& node, const std::string& cores) {
    const auto device = root_ / "bus/pci/devices" / address;
    std::filesystem::create_directories(device);
    std::ofstream(device / "numa_node") << node << "\n";
    std::ofstream(device / "local_cpulist") << cores << "\n";
  }
  ~FakeSystem() { std::filesystem::remove_all(root_); }
  FakeSystem(const FakeSystem&) = delete;
  FakeSystem& operator=(const FakeSystem&) = delete;
  std::string root() const { return root_.string(); }

 private:
  std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("affinity_" + std::to_string(::getpid()));
};

TEST(Cores, NearADeviceAreThoseOfItsNode) {
  const FakeSystem system("0000:1b:00.0", "1", "2-5,90");
  const auto near = near_device("0000:1b:00.0", kTwoNodes, system.root());
  EXPECT_EQ(near.node, 1);
  EXPECT_THAT(near.cores, ElementsAre(2, 3, 4, 5));  // there is no core 90 to use
}

TEST(Cores, NearADeviceAreUnknownWhereTheSystemDoesNotSay) {
  const FakeSystem system("0000:1b:00.0", "-1", "");
  for (const auto* address : {"0000:1b:00.0", "0000:77:00.0", ""}) {
    const auto near = near_device(address, kTwoNodes, system.root());
    EXPECT_FALSE(near.node) << address;
    EXPECT_THAT(near.cores, IsEmpty()) << address;
  }
}

TEST(Cores, AreSharedByRanksWhoseDevicesAreOfOneNode) {
  const Nearness first{0, {0, 1, 2, 3}}, second{1, {4, 5, 6, 7}};
  const std::vector<Nearness> ranks{second, first, second};
  EXPECT_THAT(share_of_near(ranks, 0), ElementsAre(4, 5));
  EXPECT_THAT(share_of_near(ranks, 1), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(share_of_near(ranks, 2), ElementsAre(6, 7));
  EXPECT_THAT(share_of_near({first, {}}, 0), IsEmpty());
}

// The policy of a thread of its own: the others keep theirs.
TEST(Memory, OfANodeIsPreferredOrTheSystemRefuses) {
  std::thread([] {
    EXPECT_FALSE(prefer_memory_of(5000));
    if (!prefer_memory_of(0)) return;
    int policy = -1;
    ASSERT_EQ(::syscall(SYS_get_mempolicy, &policy, nullptr, 0UL, nullptr, 0UL), 0);
    EXPECT_EQ(policy, 1);  // MPOL_PREFERRED
  }).join();
}

}  // namespace
}  // namespace ddptrain
