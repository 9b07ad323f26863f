// Where ranks leave their addresses for each other.
#pragma once

#include <chrono>
#include <memory>

#include "distributed/failure_board.h"
#include "distributed/torch_compat.h"
#include "launch/topology.h"

namespace ddptrain {

/// Opens the store that the topology names and waits until every rank has come. An Error
/// (Exit::device) names who has not within `timeout`.
Store rendezvous(const Topology& topology, std::chrono::milliseconds timeout);

/// In that store.
std::unique_ptr<FailureBoard> make_failure_board(const Store& store, const Topology& topology);

/// This node's address as the ranks on others reach it: of the interface that routes to the meeting
/// point, or, on the node where that is a loopback address, to another node. All ranks call it
/// after rendezvous(). Empty where nothing routes there.
std::string agree_on_address(const Store& store, const Topology& topology);

}  // namespace ddptrain
