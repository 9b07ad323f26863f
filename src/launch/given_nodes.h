// Nodes as the command line and the recipe give them, next to what a launcher says.
#pragma once

#include <optional>
#include <string>

#include "base/host_port.h"
#include "launch/topology.h"
#include "launch/variables.h"

namespace ddptrain {

inline constexpr int kUsualPort = 29500;  // torchrun's

/// What is left out is empty. `..._by` names the flag or the key, for messages.
struct GivenNodes {
  std::optional<int> nodes;
  std::string nodes_by = "--nodes";
  std::optional<int> rank;          // of this node: --node-rank
  std::optional<HostPort> meeting;  // without a port: kUsualPort
  std::string meeting_by = "--address";
};

/// topology_from(environment) together with what is given. Where a launcher started one process on
/// each of the given nodes, that process starts the ranks of its node; of one node, all ranks.
/// Where no launcher is found, the given nodes are all that is known, and --node-rank says which
/// this is. An Error (Exit::recipe) that says what to do where they contradict each other, or
/// something is missing.
Topology topology_among(const GivenNodes& given, const Environment& environment);
Topology topology_among(const GivenNodes& given);

}  // namespace ddptrain
