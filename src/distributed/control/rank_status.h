// What each rank reports of itself to the others, and what its silence means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/failure.h"

namespace ddptrain {

/// Where a rank is, published about once a second.
struct RankStatus {
  std::int64_t count = -1;  // grows while the process lives; -1: it has published nothing
  std::int64_t step = -1;   // -1: before the first
  bool waits = false;       // for the other ranks, in a collective
  bool lost_peer = false;   // a collective failed: it is about to end, and not the cause
  double silent = 0;        // seconds since its training came forward
  std::string host;
  std::string phase;
  int rank = -1;
};

std::string to_text(const RankStatus& status);
/// An empty status where the text is none.
RankStatus status_of(const std::string& text);

/// Those of a node, a line for each.
std::string to_text(const std::vector<RankStatus>& statuses);
/// Puts those of such a text into their places in `all`, which is in the order of ranks.
void read_statuses(const std::string& text, std::vector<RankStatus>& all);

/// The ranks that published nothing between two times although they had lost no peer, ascending:
/// killed, suspended, or their node is lost.
std::vector<int> silent_ranks(const std::vector<RankStatus>& before,
                              const std::vector<RankStatus>& after);

/// Who is the reason that a collective failed, by what all ranks published at two times, `before`
/// and `after`, some periods apart, both in the order of ranks: those that stopped publishing
/// (killed, suspended, their node lost), else the rank that hangs while the others wait for it.
/// Nothing where that is unknown.
std::optional<Failure> missing_rank(const std::vector<RankStatus>& before,
                                    const std::vector<RankStatus>& after);

/// That rank 0, which serves the store, has not answered there; `last` is its last status.
Failure lost_server(const RankStatus& last, bool served_by_agent);

}  // namespace ddptrain
