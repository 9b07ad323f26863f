#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/error.h"
#include "launch/shared_memory.h"
#include "support/ranks.h"

namespace ddptrain {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;

/// A folder for one test's store.
class Folder {
 public:
  Folder() : path_(testing::TempDir() + "store-XXXXXX") {
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Topology on_this_node(int rank, int world, const std::string& store) {
  Topology topology;
  topology.rank = topology.local_rank = rank;
  topology.world = topology.local_world = world;
  topology.store = store;
  topology.run_id = "test";
  return topology;
}

/// Ranks that join by the topology of their rank.
std::vector<std::string> join_as_threads(int size, const std::function<Topology(int)>& topology,
                                         const JoinOptions& options, const test::Play& rank) {
  std::vector<std::string> messages(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int i = 0; i < size; ++i)
    threads.emplace_back([&, i] {
      try {
        auto world = join(topology(i), options);
        rank(world);
      } catch (const Error& error) {
        messages[static_cast<std::size_t>(i)] = error.what();
      }
    });
  for (auto& thread : threads) thread.join();
  return messages;
}

void use_every_collective(World& world) {
  auto value = at::full({2, 3}, world.rank + 1.0, at::kFloat).t();  // not contiguous
  world.gradients->all_reduce(value);
  EXPECT_TRUE(at::equal(value, at::full({3, 2}, world.size == 2 ? 3.0 : 10.0, at::kFloat)));
  auto pending_value = at::full({1000}, world.rank, at::kHalf);
  const auto pending = world.gradients->all_reduce_async(pending_value);
  const auto all = world.statistics->all_gather(at::full({1}, world.rank, at::kLong));
  for (int i = 0; i < world.size; ++i) EXPECT_EQ(all[i].item<int>(), i);
  pending->wait();
  EXPECT_EQ(pending_value[999].item<float>(), world.size * (world.size - 1) / 2);
  auto row = at::full({0}, 1.0);
  world.control->broadcast(row, 1);
  EXPECT_EQ(broadcast_text(*world.control, world.rank == 1 ? "one" : "", 1), "one");
  world.control->barrier();
}

TEST(Join, RanksOfOneNodeMeetInAFile) {
  const Folder folder;
  for (const int size : {2, 4}) {
    const auto store = folder.path() + "/" + std::to_string(size);
    std::filesystem::create_directory(store);
    const auto messages = join_as_threads(
        size, [&](int rank) { return on_this_node(rank, size, store); }, {}, use_every_collective);
    EXPECT_EQ(messages, std::vector<std::string>(static_cast<std::size_t>(size)));
  }
}

// NCCL's groups cost memory of the device and time.
TEST(Join, MakesNoGroupForStatisticsThatAreNotShared) {
  const Folder folder;
  JoinOptions options;
  options.statistics = false;
  const auto topology = [&](int rank) { return on_this_node(rank, 2, folder.path()); };
  join_as_threads(2, topology, options, [](World& world) {
    EXPECT_EQ(world.statistics, nullptr);
    auto one = at::full({1}, 1.0);
    world.gradients->all_reduce(one);
    EXPECT_EQ(one.item<double>(), 2);
  });
}

int free_port() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length), 0);
  close(listener);
  return ntohs(address.sin_port);
}

TEST(Join, RanksThatOthersStartedMeetAtAnAddress) {
  const int port = free_port();
  const auto topology = [&](int rank) {
    auto made = on_this_node(rank, 2, "");
    made.address = "127.0.0.1";
    made.port = port;
    return made;
  };
  const auto messages = join_as_threads(2, topology, {}, use_every_collective);
  EXPECT_EQ(messages, (std::vector<std::string>{"", ""}));
}

/// Four ranks on nodes that have as many each as `on_nodes` lists.
std::vector<std::string> join_on_nodes(const std::vector<int>& on_nodes, int group,
                                       const test::Play& play) {
  const int port = free_port();
  const auto topology = [&](int rank) {
    auto made = on_this_node(rank, 4, "");
    made.address = "127.0.0.1";
    made.port = port;
    for (const int on_node : on_nodes) {
      made.local_world = on_node;
      if (made.local_rank < on_node) break;
      made.local_rank -= on_node;
    }
    return made;
  };
  JoinOptions options;
  options.shard_group = group;
  return join_as_threads(4, topology, options, play);
}

TEST(Join, RanksOfANodeHaveAModelTogether) {
  const std::vector<std::string> fine(4);
  for (const int group : {kRanksOfNode, 2})
    EXPECT_EQ(join_on_nodes({2, 2}, group,
                            [](World& world) {
                              auto ranks = at::full({1}, world.rank, at::kFloat);
                              world.sharing().all_reduce(ranks);
                              EXPECT_EQ(ranks.item<float>(), world.rank < 2 ? 1 : 5);
                              ranks = at::full({1}, world.rank, at::kFloat);
                              world.replica_group->all_reduce(ranks);
                              EXPECT_EQ(ranks.item<float>(), world.rank % 2 == 0 ? 2 : 4);
                            }),
              fine);
  EXPECT_EQ(
      join_on_nodes({4}, kRanksOfNode, [](World& world) { EXPECT_EQ(world.shard_group, nullptr); }),
      fine);
}

TEST(Join, NodesOfUnequalNumbersHaveNoGroups) {
  const auto never = [](World&) { ADD_FAILURE(); };
  EXPECT_EQ(join_on_nodes({3, 1}, kRanksOfNode, never),
            std::vector<std::string>(
                4,
                "parallel.shard.group: 'node' needs nodes with as many ranks each, next to each "
                "other; that of rank 0 has 3, that of rank 3 has 1"));
}

TEST(Join, NamesWhoDidNotCome) {
  const Folder folder;
  JoinOptions options;
  options.start = 100ms;
  const auto topology = [&](int rank) { return on_this_node(rank, 4, folder.path()); };
  const auto messages = join_as_threads(2, topology, options, [](World&) {});
  EXPECT_THAT(messages[0], HasSubstr("rank 2, 3 of 4 did not come within 100 ms"));
}

/// Rank `rank` of two nodes that meet at an address.
Topology at_an_address(int rank, const std::string& address, int port) {
  Topology topology;
  topology.rank = rank;
  topology.world = 2;
  topology.address = address;
  topology.port = port;
  topology.named_by = "--address";
  topology.run_id = "test";
  return topology;
}

std::string message_of_joining(const Topology& topology) {
  try {
    JoinOptions options;
    options.start = 300ms;
    join(topology, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::device);
    return error.what();
  }
  return "joined";
}

// RFC 6761: no resolver knows names below 'invalid'.
TEST(Join, NamesAHostThatIsNotKnown) {
  for (const int rank : {0, 1})
    EXPECT_EQ(message_of_joining(at_an_address(rank, "node0.invalid", 29555)),
              "rank " + std::to_string(rank) +
                  " cannot reach the meeting point 'node0.invalid:29555' (--address): this machine "
                  "knows no host 'node0.invalid'");
}

TEST(Join, NamesAPortThatAnotherProgramHas) {
  const int taken = ::socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_any;
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(taken, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(taken, 1), 0);
  ASSERT_EQ(::getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int port = ntohs(address.sin6_port);
  EXPECT_EQ(message_of_joining(at_an_address(0, "127.0.0.1", port)),
            "rank 0 cannot serve the meeting point '127.0.0.1:" + std::to_string(port) +
                "' (--address): the port is in use");
  ::close(taken);
}

/// Rank 0's process of a start, `after` the one before has ended (0: at once).
pid_t start_rank_0(std::int64_t start, int port, std::chrono::seconds patience, pid_t after = 0) {
  const pid_t child = fork();
  if (child != 0) return child;
  auto topology = at_an_address(0, "127.0.0.1", port);
  topology.start = start;
  try {
    while (after != 0 && ::kill(after, 0) == 0) std::this_thread::sleep_for(10ms);
    JoinOptions options;
    options.start = patience;
    auto world = join(topology, options);
    world.control->barrier();
  } catch (...) {
  }
  _exit(0);
}

// Its node had ended first, and came while rank 0 of the start before still waited.
TEST(Join, ANodeThatStartsAgainWaitsForRank0ToStartAgain) {
  const int port = free_port();
  const pid_t before = start_rank_0(1, port, 1s);
  const pid_t again = start_rank_0(3, port, 60s, before);
  std::thread reaped([&] { EXPECT_EQ(waitpid(before, nullptr, 0), before); });
  auto topology = at_an_address(1, "127.0.0.1", port);
  topology.start = 2;
  ReportedNumber came_to;
  topology.came_to = &came_to;
  auto world = join(topology, {});
  world.control->barrier();
  EXPECT_EQ(came_to.get(), 3);
  reaped.join();
  EXPECT_EQ(waitpid(again, nullptr, 0), again);
}

TEST(Join, NamesAMeetingPointThatRank0DoesNotComeToAgain) {
  const int port = free_port();
  const pid_t before = start_rank_0(1, port, 1s);
  auto topology = at_an_address(1, "127.0.0.1", port);
  topology.start = 2;
  EXPECT_THAT(message_of_joining(topology),
              AnyOf(HasSubstr("had no start of rank 0 to join within 300 ms: look at its log"),
                    HasSubstr("cannot reach the meeting point")));
  EXPECT_EQ(waitpid(before, nullptr, 0), before);
}

TEST(Join, RefusesAMeetingPointOfAnotherRun) {
  const int port = free_port();
  const pid_t other = start_rank_0(1, port, 60s);
  auto topology = at_an_address(1, "127.0.0.1", port);
  topology.run_id = "another";
  JoinOptions options;
  options.start = 60s;
  try {
    join(topology, options);
    ADD_FAILURE() << "joined another run";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("(--address) serves another run; give each run a port of "
                                        "its own"));
  }
  ::kill(other, SIGKILL);
  EXPECT_EQ(waitpid(other, nullptr, 0), other);
}

TEST(Join, AWorldOfOneNeedsNobody) {
  auto world = join(on_this_node(0, 1, ""), {});
  EXPECT_EQ(world.size, 1);
  agree(world, "everything", "yes");
}

TEST(BackendGroup, ARankThatHangsIsATimeout) {
  const Folder folder;
  JoinOptions options;
  options.step = 300ms;
  const auto topology = [&](int rank) { return on_this_node(rank, 2, folder.path()); };
  const auto messages = join_as_threads(2, topology, options, [](World& world) {
    if (world.rank == 1) return std::this_thread::sleep_for(1s);
    auto value = at::zeros({4});
    world.gradients->all_reduce(value);
  });
  EXPECT_THAT(messages[0], HasSubstr("rank 0, all_reduce of the gradients group: another rank did "
                                     "not answer within 300 ms"));
}

// Connections that are made late are made while ranks join, not in the midst of a collective.
TEST(BackendGroup, ARankThatHangsIsATimeoutAmongManyToo) {
  ::setenv("TORCH_GLOO_LAZY_INIT", "1", 1);
  const Folder folder;
  JoinOptions options;
  options.step = 300ms;
  const auto topology = [&](int rank) { return on_this_node(rank, 5, folder.path()); };
  const auto messages = join_as_threads(5, topology, options, [](World& world) {
    if (world.rank == 1) return std::this_thread::sleep_for(1s);
    auto value = at::zeros({4});
    world.gradients->all_reduce(value);
  });
  ::unsetenv("TORCH_GLOO_LAZY_INIT");
  EXPECT_EQ(messages[1], "");
  for (const int rank : {0, 2, 3, 4})
    EXPECT_THAT(messages[static_cast<std::size_t>(rank)],
                HasSubstr("all_reduce of the gradients group: another rank did not answer"));
}

/// In a process of its own, which ends silently once all ranks have joined.
pid_t start_rank_that_dies(const std::string& store) {
  const pid_t child = fork();
  if (child != 0) return child;
  try {
    auto world = join(on_this_node(1, 2, store), {});
    world.control->barrier();
  } catch (...) {
  }
  _exit(9);
}

TEST(BackendGroup, ARankThatDiesIsAnErrorAtOnce) {
  const Folder folder;
  const pid_t child = start_rank_that_dies(folder.path());
  auto world = join(on_this_node(0, 2, folder.path()), {});
  world.control->barrier();
  auto value = at::zeros({1 << 20});
  try {
    for (int i = 0; i < 100; ++i) world.gradients->all_reduce(value);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::device);
    EXPECT_THAT(error.what(), HasSubstr("another rank has ended"));
  }
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

}  // namespace
}  // namespace ddptrain
