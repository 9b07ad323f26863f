// Signs of life of ranks, in memory that they share with the launcher.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "launch/shared_memory.h"

namespace ddptrain {

/// The last position that a rank reported.
struct Beat {
  std::int64_t step = -1;  // -1: not yet training
  double seconds = 0;      // on seconds_now()'s clock
  std::string phase;       // "start" until the first beat
};

/// Made before the ranks are forked; a rank writes its own slot, the launcher reads all.
class Heartbeats {
 public:
  explicit Heartbeats(int ranks);

  /// Cheap: a few stores. Of `phase` the first 32 bytes are kept.
  void beat(int rank, std::int64_t step, std::string_view phase);
  Beat last(int rank) const;
  int ranks() const { return ranks_; }

 private:
  struct Slot;
  int ranks_;
  SharedMemory memory_;
  Slot* slots_;
};

}  // namespace ddptrain
