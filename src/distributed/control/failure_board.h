// Why a rank failed, for ranks that no launcher of ours watches all of: each says to the others
// where it is and what ended it, so that they can name the cause.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>

#include "launch/failure.h"

namespace ddptrain {

struct World;

/// Where they can leave it. Nothing here throws: who cannot be reached says nothing. While it
/// lives, a thread leaves a sign of this rank every second, and ends the process with the cause
/// where a counted call has waited for seconds after another rank posted its failure.
class FailureBoard {
 public:
  virtual ~FailureBoard() = default;
  /// The first failure stays.
  virtual void post(const Failure& failure) = 0;
  /// Counts the calls in which this rank waits for the others.
  virtual std::shared_ptr<std::atomic<int>> waits() const = 0;
  /// Why another rank was lost: what it posted, or posts within `patience`; else that it gives no
  /// more signs, or hangs. Nothing where that is unknown.
  virtual std::optional<Failure> cause(std::chrono::milliseconds patience) = 0;
  /// For a thread that ends the process: posts a failure, or finds the cause of one that only says
  /// that a peer was lost, within ten seconds. Also after the board's end.
  virtual Explain explanation() const = 0;
  /// Whether another rank has posted one, as far as this rank knows while it waits for the others.
  virtual bool peer_has_failed() const = 0;
  /// To be called last, and called by the destructor. Who serves the board waits for the others to
  /// leave it, five seconds at most.
  virtual void leave() = 0;
};

/// Counts a call as one that waits for the other ranks, while it lives; `waits` may be null.
class CountedWait {
 public:
  explicit CountedWait(std::shared_ptr<std::atomic<int>> waits) : waits_(std::move(waits)) {
    if (waits_) ++*waits_;
  }
  ~CountedWait() {
    if (waits_) --*waits_;
  }
  CountedWait(const CountedWait&) = delete;
  CountedWait& operator=(const CountedWait&) = delete;

 private:
  std::shared_ptr<std::atomic<int>> waits_;
};

/// Throws what ended a rank, after it was posted; where it only lost a peer, the cause that another
/// posts within ten seconds, or that its silence implies, as a PeerError. Ends the groups of
/// `world`, which has a board.
[[noreturn]] void rethrow_cause(World& world, const std::exception_ptr& error);

}  // namespace ddptrain
