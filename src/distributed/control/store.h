// Where ranks leave their addresses for each other.
#pragma once

#include <chrono>
#include <memory>

#include "accelerator/process_group.h"
#include "distributed/control/failure_board.h"
#include "launch/topology.h"

namespace ddptrain {

/// Opens the store that the topology names and waits until every rank has come (meeting.h). An
/// Error (Exit::device) names who has not within `timeout`, or that another run is served there.
Store rendezvous(const Topology& topology, std::chrono::milliseconds timeout);

/// In that store.
std::unique_ptr<FailureBoard> make_failure_board(const Store& store, const Topology& topology);

}  // namespace ddptrain
