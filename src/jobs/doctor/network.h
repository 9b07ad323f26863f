// `doctor --network`: what the ranks of a launch have for talking to each other, measured.
#pragma once

#include <vector>

#include "jobs/doctor/doctor_devices.h"
#include "jobs/doctor/network_times.h"
#include "jobs/nodes.h"

namespace ddptrain {

inline constexpr Flag kNetwork{"--network", "",
                               "the network instead: time of sums between ranks, addresses, "
                               "limits; under a launcher on its ranks"};
inline constexpr Flag kNetworkDevices{"--devices", "N",
                                      "with --network: ranks on each machine (default 2)"};

/// Lines of the table, each with what its numbers are of.
std::vector<NamedObservation> time_observations(const std::vector<ReduceTime>& times,
                                                const std::vector<PairTime>& pairs,
                                                const std::vector<std::string>& hosts,
                                                const std::string& transport);

/// Starts or joins the ranks; rank 0 prints. Returns the exit code.
int examine_network(const Arguments& arguments);

/// "NAME           TEXT", and what to do below it. Returns how many lines have advice.
int print_observations(const std::vector<NamedObservation>& found);

}  // namespace ddptrain
