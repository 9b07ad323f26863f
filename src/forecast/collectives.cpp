#include "forecast/collectives.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ddptrain {
namespace {

/// Reduce-scatter over rings of nodes with 8 H100 and 400 GB/s of network cards (nccl#1229).
struct RingPoint {
  double nodes, gigabytes;
};
constexpr std::array kRings{RingPoint{4, 360},  RingPoint{8, 345},  RingPoint{16, 320},
                            RingPoint{32, 300}, RingPoint{64, 280}, RingPoint{128, 260}};
constexpr double kLineRate = 400;

/// What rings reach of the line rate: linear in log2(nodes) between those points; fewer nodes reach
/// what 4 do, more lose as much with each doubling as from 64 to 128.
double reached_of_network(double nodes) {
  if (nodes <= kRings.front().nodes) return kRings.front().gigabytes / kLineRate;
  std::size_t i = 0;
  while (i + 2 < kRings.size() && kRings[i + 1].nodes < nodes) ++i;
  const auto &low = kRings[i], &high = kRings[i + 1];
  const double at = std::log2(nodes / low.nodes) / std::log2(high.nodes / low.nodes);
  const double rate = low.gigabytes + at * (high.gigabytes - low.gigabytes);
  return std::max(rate, kRings.back().gigabytes / 2) / kLineRate;
}

}  // namespace

std::int64_t nodes_of(const KnownMachine& machine, std::int64_t devices) {
  return (devices + machine.node - 1) / machine.node;
}

double ring_rate(const KnownMachine& machine, std::int64_t devices) {
  const auto nodes = nodes_of(machine, devices);
  if (nodes <= 1) return machine.link.value;
  const double cards = machine.network.value * machine.node;
  return std::min(machine.link.value, cards * reached_of_network(static_cast<double>(nodes)));
}

double latency(const KnownMachine& machine, std::int64_t devices) {
  if (devices <= 1) return 0;
  const auto& common = common_constants();
  const auto nodes = static_cast<double>(nodes_of(machine, devices));
  return common.node_latency.value + 2 * common.network_latency.value * std::log2(nodes);
}

double gather_seconds(const KnownMachine& machine, std::int64_t devices, double bytes) {
  if (devices <= 1) return 0;
  const auto n = static_cast<double>(devices);
  return latency(machine, devices) + (n - 1) / n * bytes / ring_rate(machine, devices);
}

double reduce_seconds(const KnownMachine& machine, std::int64_t devices, double bytes) {
  if (devices <= 1) return 0;
  const auto n = static_cast<double>(devices);
  return latency(machine, devices) + 2 * (n - 1) / n * bytes / ring_rate(machine, devices);
}

double replica_seconds(const KnownMachine& machine, std::int64_t devices, std::int64_t group,
                       double bytes) {
  if (devices <= group) return 0;
  const auto n = static_cast<double>(devices) / static_cast<double>(group);
  const auto nodes = nodes_of(machine, devices);
  const double cards = machine.network.value * reached_of_network(static_cast<double>(nodes));
  const double rate = nodes <= 1 ? machine.link.value : std::min(machine.link.value, cards);
  return latency(machine, devices) + 2 * (n - 1) / n * bytes / rate;
}

}  // namespace ddptrain
