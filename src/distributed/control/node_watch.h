// The thread of a rank that reports where the rank is, and that looks for the cause once a peer is
// lost. It ends the process where a call keeps waiting for a rank that has failed. The ranks of a
// node report in memory that they share (node_table.h); one of them publishes that in the store
// each second, so that the store is called once per node.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "accelerator/process_group.h"
#include "distributed/control/rank_status.h"
#include "launch/topology.h"

namespace ddptrain {

class Heartbeats;

/// What a rank and its thread share. The thread may wait for a store that never answers, and then
/// outlives the rank's board: it touches nothing else.
struct WatchState {
  using Clock = std::chrono::steady_clock;

  std::mutex mutex;
  std::condition_variable changed;
  const Heartbeats* beats = nullptr;  // null once the board is gone
  bool ends = false;                  // asked of the thread
  bool lost_peer = false;             // so is that it looks for the cause
  bool answers = true;                // the store: false once a call has failed
  Clock::time_point called = {};      // the call that is under way; never, where none is
  RankStatus server;                  // rank 0's, as last seen
  std::optional<Failure> cause;
  int silent = 0;  // ranks that will not come to leave, as far as this one has looked
  bool has_ended = false;
  std::atomic<bool> peer_has_failed = false;  // as the board says, read while this rank waits
  const std::shared_ptr<std::atomic<int>> waits = std::make_shared<std::atomic<int>>(0);

  /// Whether the store answers; to be called with the mutex held. A store whose server is suspended
  /// lets its clients wait for ever.
  bool is_answered() const;
};

/// Records why a run ends, in its store. The first record stays.
void post_failure(c10d::Store& store, const Failure& failure);

/// Reports this rank in the store for the first time, and starts its thread.
void start_watch(std::shared_ptr<WatchState> state, const Store& store, const Topology& topology);

}  // namespace ddptrain
