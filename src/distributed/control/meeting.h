// How ranks meet in a store: each calls it a constant number of times, whatever their number.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "launch/topology.h"

namespace c10d {
class Store;
}

namespace ddptrain {

/// Until when ranks wait for each other, and for how long that is in all, for messages.
struct MeetingTime {
  std::chrono::steady_clock::time_point end;
  std::chrono::milliseconds limit;
};

/// Counts this rank and waits until all have come. An Error (Exit::device) where they do not come
/// in time (it names who is missing), where ranks were started as different numbers of them, or
/// where one has come already under this number.
void meet(c10d::Store& store, const Topology& topology, const MeetingTime& time);

/// The Error of meet() that names who is missing.
[[noreturn]] void refuse_missing(const std::vector<int>& ranks, int world,
                                 std::chrono::milliseconds limit);

/// This node's address as the ranks on others reach it: of the interface that routes to the meeting
/// point, or, on the node where that is a loopback address, to another node. All ranks of several
/// nodes have called meet(). Empty where nothing routes there.
std::string agree_on_address(c10d::Store& store, const Topology& topology);

}  // namespace ddptrain
