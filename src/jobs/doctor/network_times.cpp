#include "jobs/doctor/network_times.h"

#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "distributed/world.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostOfAllPairs = 16;  // ranks of which every pair is measured

double median_of(std::vector<double> seconds) {
  const auto middle = seconds.begin() + std::ssize(seconds) / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

/// The first ones open connections.
double reduce_seconds(Group& group, std::int64_t bytes, int times) {
  auto tensor = at::zeros({bytes / 4}, at::kFloat);
  std::vector<double> seconds;
  for (int i = -2; i < times; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    group.all_reduce(tensor);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (i >= 0) seconds.push_back(took.count());
  }
  return median_of(std::move(seconds));
}

/// The two ranks as a world of their own, which meets where all do.
Topology topology_of_pair(const PairTime& pair, const Topology& topology, bool same_host) {
  auto own = topology;
  own.rank = topology.rank == pair.first ? 0 : 1;
  own.world = 2;
  own.local_rank = same_host ? own.rank : 0;
  own.local_world = same_host ? 2 : 1;
  own.store_is_served = true;  // by rank 0 of all
  own.run_id += fmt::format("/pair-{}-{}", pair.first, pair.second);
  if (topology.address.empty()) {
    own.store += fmt::format("/pair-{}-{}", pair.first, pair.second);
    std::filesystem::create_directories(own.store);
  }
  return own;
}

}  // namespace

double bus_bandwidth(std::int64_t bytes, double seconds, int ranks) {
  return 2.0 * (ranks - 1) / ranks * static_cast<double>(bytes) / seconds;
}

std::vector<ReduceTime> reduce_times(World& world) {
  std::vector<ReduceTime> times;
  for (const auto& [bytes, repeats] :
       {std::pair(std::int64_t{8}, 50), std::pair(std::int64_t{1} << 20, 20),
        std::pair(std::int64_t{16} << 20, 5)})
    times.push_back({bytes, reduce_seconds(*world.control, bytes, repeats)});
  return times;
}

std::vector<PairTime> measured_pairs(const std::vector<int>& ranks) {
  std::vector<PairTime> pairs;
  const bool all = ranks.size() <= kMostOfAllPairs;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    for (std::size_t k = i + 1; k < (all ? ranks.size() : std::min(i + 2, ranks.size())); ++k)
      pairs.push_back({ranks[i], ranks[k]});
  return pairs;
}

void time_pairs(std::vector<PairTime>& pairs, World& world, const Topology& topology,
                const std::vector<std::string>& hosts) {
  for (auto& pair : pairs) {
    if (topology.rank == pair.first || topology.rank == pair.second) {
      const bool same_host = hosts.at(static_cast<std::size_t>(pair.first)) ==
                             hosts.at(static_cast<std::size_t>(pair.second));
      JoinOptions options;
      options.statistics = false;
      auto two = join(topology_of_pair(pair, topology, same_host), options);
      pair.latency = reduce_seconds(*two.control, 8, 20);
      pair.seconds = reduce_seconds(*two.control, kPairBytes, 5);
      two.control->barrier();
    }
    world.control->barrier();
  }
}

}  // namespace ddptrain
