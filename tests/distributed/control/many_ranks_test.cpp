// What a rank costs the store that all ranks share, with as many ranks as threads can play: it must
// not depend on their number. A call takes a millisecond, as over a network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "distributed/control/counting_store.h"
#include "distributed/control/meeting.h"
#include "distributed/control/node_table.h"
#include "distributed/control/node_watch.h"

namespace ddptrain {
namespace {

using namespace std::chrono_literals;
using test::CountingStore;
using RankStore = c10::intrusive_ptr<CountingStore>;

constexpr auto kLatency = 1ms;
constexpr int kPerNode = 8;

MeetingTime in_time(std::chrono::milliseconds limit) {
  return {std::chrono::steady_clock::now() + limit, limit};
}

Topology on_nodes(int rank, int world) {
  Topology topology;
  topology.rank = rank;
  topology.world = world;
  topology.local_rank = rank % kPerNode;
  topology.local_world = kPerNode;
  topology.address = "127.0.0.1";
  topology.port = 29500;
  return topology;
}

/// Plays `ranks` of `world`, each with a view of its own of one store.
std::vector<RankStore> played(const std::vector<int>& ranks,
                              const std::function<void(int rank, CountingStore& store)>& play) {
  const auto shared = c10::make_intrusive<c10d::HashStore>();
  std::vector<RankStore> stores;
  std::vector<std::thread> threads;
  for ([[maybe_unused]] const int rank : ranks)
    stores.push_back(c10::make_intrusive<CountingStore>(shared, kLatency));
  for (std::size_t i = 0; i < ranks.size(); ++i)
    threads.emplace_back([&, i] { play(ranks[i], *stores[i]); });
  for (auto& thread : threads) thread.join();
  return stores;
}

std::vector<int> all_of(int world) {
  std::vector<int> ranks;
  for (int rank = 0; rank < world; ++rank) ranks.push_back(rank);
  return ranks;
}

int most_calls(const std::vector<RankStore>& stores) {
  int most = 0;
  for (const auto& store : stores) most = std::max(most, store->calls());
  return most;
}

TEST(ManyRanks, MeetByACounterAndAWait) {
  for (const int world : {16, 256}) {
    const auto stores = played(all_of(world), [&](int rank, CountingStore& store) {
      meet(store, on_nodes(rank, world), in_time(10min));
    });
    // The number of ranks, this one's claim, the counter, its number, the wait.
    EXPECT_EQ(most_calls(stores), 5) << world;
  }
}

TEST(ManyRanks, AskTheStoreOnceForTheAddressOfANode) {
  const auto stores = played(all_of(256), [&](int rank, CountingStore& store) {
    const auto topology = on_nodes(rank, 256);
    meet(store, topology, in_time(10min));
    agree_on_address(store, topology);
  });
  EXPECT_LE(most_calls(stores), 7);
}

TEST(ManyRanks, LearnWhoIsMissingInTwoCalls) {
  std::vector<int> ranks;
  for (const int rank : all_of(256))
    if (rank < 40 || rank > 50) ranks.push_back(rank);
  std::atomic<int> named = 0;
  const auto stores = played(ranks, [&](int rank, CountingStore& store) {
    try {
      meet(store, on_nodes(rank, 256), in_time(3s));
    } catch (const Error& error) {
      const std::string what = error.what();
      if (what.starts_with("rank 40-50 of 256 did not come within 3 s:")) ++named;
    }
  });
  EXPECT_EQ(named, 245);
  EXPECT_EQ(most_calls(stores), 7);
}

TEST(ManyRanks, AreRefusedWhereOneComesTwice) {
  std::atomic<int> refused = 0;
  played({0, 1, 1}, [&](int rank, CountingStore& store) {
    try {
      meet(store, on_nodes(rank, 16), in_time(300ms));
    } catch (const Error& error) {
      if (std::string(error.what()).starts_with("another process has come as rank 1 of 16 at "))
        ++refused;
    }
  });
  EXPECT_EQ(refused, 1);
}

TEST(ManyRanks, ReportByOneRankOfEachNode) {
  constexpr int world = 256;
  std::vector<std::unique_ptr<NodeTable>> tables(world);
  const auto stores = played(all_of(world), [&](int rank, CountingStore& store) {
    const auto node = "node " + std::to_string(rank / kPerNode);
    auto& table = tables[static_cast<std::size_t>(rank)];
    table = std::make_unique<NodeTable>(store, rank, world, node);
    RankStatus status;
    status.phase = "step";
    table->write(status);
  });
  EXPECT_LE(most_calls(stores), 3);  // by the first of a node
  int publishers = 0;
  std::vector<bool> seen(world / kPerNode);
  for (int rank = 0; rank < world; ++rank) {
    const auto& table = *tables[static_cast<std::size_t>(rank)];
    publishers += table.publishes();
    EXPECT_EQ(table.statuses().size(), kPerNode);
    for (const auto& status : table.statuses()) EXPECT_EQ(status.rank / kPerNode, rank / kPerNode);
    seen.at(static_cast<std::size_t>(table.node())) = true;
  }
  EXPECT_EQ(publishers, world / kPerNode);
  EXPECT_THAT(seen, testing::Each(true));
}

// All threads are ranks of this node: two of them, that of rank 0 and the first, call the store.
TEST(ManyRanks, LeaveTheStoreAloneWhileTheyTrain) {
  constexpr int world = 256;
  std::vector<std::shared_ptr<WatchState>> states(world);
  std::vector<int> begun(world);
  const auto stores = played(all_of(world), [&](int rank, CountingStore& store) {
    const auto i = static_cast<std::size_t>(rank);
    states[i] = std::make_shared<WatchState>();
    const auto view = c10::intrusive_ptr<CountingStore>::reclaim_copy(&store);
    start_watch(states[i], view, on_nodes(rank, world));
    begun[i] = store.calls();
  });
  EXPECT_LE(*std::max_element(begun.begin(), begun.end()), 6);
  std::this_thread::sleep_for(3s);
  int callers = 0;
  for (std::size_t i = 0; i < stores.size(); ++i) callers += stores[i]->calls() > begun[i];
  EXPECT_LE(callers, world / 8) << "on a busy machine a thread that is late is stood in for";
  for (auto& state : states) {
    std::unique_lock lock(state->mutex);
    state->ends = true;
    state->changed.notify_all();
    while (!state->has_ended) state->changed.wait_for(lock, 100ms);
  }
}

}  // namespace
}  // namespace ddptrain
