// Why a rank failed, for the ranks that somebody else started: no launcher of ours reads their
// records and names the cause.
#pragma once

#include <chrono>
#include <exception>
#include <optional>

#include "launch/failure.h"

namespace ddptrain {

struct World;

/// Where they can leave it. Nothing here throws: who cannot be reached says nothing.
class FailureBoard {
 public:
  virtual ~FailureBoard() = default;
  /// The first failure stays.
  virtual void post(const Failure& failure) = 0;
  /// What a rank posted, or posts within `patience`.
  virtual std::optional<Failure> read(std::chrono::milliseconds patience) = 0;
  /// To be called last. Who serves the board waits for the others to leave it, five seconds at
  /// most.
  virtual void leave() = 0;
};

/// Throws what ended a rank, after it was posted; where it only lost a peer, the cause that another
/// posts within ten seconds, as a PeerError. Ends the groups of `world`, which has a board.
[[noreturn]] void rethrow_cause(World& world, const std::exception_ptr& error);

}  // namespace ddptrain
