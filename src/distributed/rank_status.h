// What each rank says of itself to the others, and what its silence means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/failure.h"

namespace ddptrain {

/// Where a rank is, said anew every second or so.
struct RankStatus {
  std::int64_t count = -1;  // grows while the process lives; -1: it has not said anything
  std::int64_t step = -1;   // -1: before the first
  bool waits = false;       // for the other ranks, in a collective
  bool lost_peer = false;   // a collective failed: it is about to end, and not the cause
  double silent = 0;        // seconds since its training came forward
  std::string host;
  std::string phase;
};

std::string to_text(const RankStatus& status);
/// An empty status where the text is none.
RankStatus status_of(const std::string& text);

/// Who is the reason that a collective failed, by what all ranks said at two times, `before` and
/// `after`, some periods apart, both in the order of ranks: those that say nothing any more
/// (killed, suspended, their node lost), else the rank that hangs while the others wait for it.
/// Nothing where that cannot be told.
std::optional<Failure> missing_rank(const std::vector<RankStatus>& before,
                                    const std::vector<RankStatus>& after);

/// That rank 0, which serves the store, has not answered there; `last` is what it said last.
Failure lost_server(const RankStatus& last, bool served_by_agent);

}  // namespace ddptrain
