// Where ranks leave their addresses for each other.
#pragma once

#include <chrono>

#include "distributed/torch_compat.h"
#include "launch/topology.h"

namespace ddptrain {

/// Opens the store that the topology names and waits until every rank has come. An Error
/// (Exit::device) names who has not within `timeout`.
Store meet(const Topology& topology, std::chrono::milliseconds timeout);

}  // namespace ddptrain
