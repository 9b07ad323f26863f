// How long sums between ranks take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/topology.h"

namespace ddptrain {

struct World;

/// The median of some all-reduces of so many bytes.
struct ReduceTime {
  std::int64_t bytes = 0;
  double seconds = 0;
};

/// Of two ranks alone.
struct PairTime {
  int first = 0;
  int second = 0;
  double latency = 0;  // seconds of 8 bytes
  double seconds = 0;  // of kPairBytes
};

inline constexpr std::int64_t kPairBytes = std::int64_t{4} << 20;

/// Bytes a second that each rank sends and receives: 2 (n - 1) / n of the data, as nccl-tests'
/// busbw.
double bus_bandwidth(std::int64_t bytes, double seconds, int ranks);

/// 8 bytes, 1 MiB and 16 MiB; all ranks call it.
std::vector<ReduceTime> reduce_times(World& world);

/// Pairs that are measured: all of those `ranks`, or only neighbors where these are too many.
std::vector<PairTime> measured_pairs(const std::vector<int>& ranks);

/// Fills in what the pairs that this rank belongs to measure, one pair after the other; all ranks
/// call it.
void time_pairs(std::vector<PairTime>& pairs, World& world, const Topology& topology,
                const std::vector<std::string>& hosts);

}  // namespace ddptrain
