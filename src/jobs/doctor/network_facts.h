// What the machine of a rank has for talking to others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/doctor/doctor_devices.h"
#include "launch/topology.h"

namespace ddptrain {

/// -1: no limit, or not known.
struct NetworkFacts {
  std::string host;
  std::string address;    // as other ranks reach it
  std::string interface;  // that has it
  std::string unknown;    // a name that this machine cannot resolve; empty: it resolves all
  std::int64_t shared_memory = -1;
  std::int64_t open_files = -1;
  std::int64_t locked_memory = -1;
};

NetworkFacts network_facts(const Topology& topology);

/// A line of it, for other ranks.
std::string to_line(const NetworkFacts& facts);
NetworkFacts facts_of_line(const std::string& line);

/// Lines of the table: each host once, then the scarcest of each kind, with what to do.
std::vector<NamedObservation> fact_observations(const std::vector<NetworkFacts>& ranks);

}  // namespace ddptrain
