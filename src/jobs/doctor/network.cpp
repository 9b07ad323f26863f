#include "jobs/doctor/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/output/print.h"
#include "base/text.h"
#include "distributed/world.h"
#include "jobs/doctor/network_facts.h"
#include "jobs/start.h"
#include "launch/route.h"

namespace ddptrain {
namespace {

constexpr int kMostRanks = 1024;

std::string milliseconds_text(double seconds) { return fmt::format("{:.3g} ms", seconds * 1e3); }

std::string rate_text(double bytes_per_second) {
  return fmt::format("{:.3g} GB/s", bytes_per_second * 1e-9);
}

std::string pair_text(const PairTime& pair, const std::vector<std::string>& hosts) {
  const auto host = [&](int rank) { return hosts.at(static_cast<std::size_t>(rank)); };
  return fmt::format(
      "ranks {} and {} ({}): {}, {}", pair.first, pair.second,
      host(pair.first) == host(pair.second) ? host(pair.first)
                                            : host(pair.first) + " and " + host(pair.second),
      milliseconds_text(pair.latency), rate_text(bus_bandwidth(kPairBytes, pair.seconds, 2)));
}

Observation slowest_of(const std::vector<PairTime>& pairs, const std::vector<std::string>& hosts) {
  auto sorted = pairs;
  std::ranges::sort(sorted, {}, &PairTime::seconds);
  const auto& middle = sorted[sorted.size() / 2];
  const auto& last = sorted.back();
  Observation found{pair_text(last, hosts) +
                    fmt::format("; the median of {} pairs: {}", sorted.size(),
                                rate_text(bus_bandwidth(kPairBytes, middle.seconds, 2)))};
  if (last.seconds > 2 * middle.seconds)
    found.advice =
        "it is more than twice as slow: look at the cable, port and interface of its hosts";
  return found;
}

/// One rank of each host, or all where there is one host.
std::vector<int> ranks_to_pair(const std::vector<std::string>& hosts) {
  std::vector<int> first, all;
  std::set<std::string> seen;
  for (int rank = 0; rank < std::ssize(hosts); ++rank) {
    all.push_back(rank);
    if (seen.insert(hosts[static_cast<std::size_t>(rank)]).second) first.push_back(rank);
  }
  return first.size() > 1 ? first : all;
}

/// To rank 0: what the first rank of each pair measured.
void gather_pairs(std::vector<PairTime>& pairs, World& world) {
  std::vector<std::string> mine;
  for (const auto& pair : pairs)
    mine.push_back(fmt::format("{:.9e} {:.9e}", pair.latency, pair.seconds));
  const auto all = gather_text(*world.control, join(mine, "\n"));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto lines = split(all.at(static_cast<std::size_t>(pairs[i].first)), '\n');
    const auto numbers = split(lines.at(i), ' ');
    pairs[i].latency = parse_number(numbers.at(0)).value_or(0);
    pairs[i].seconds = parse_number(numbers.at(1)).value_or(0);
  }
}

/// With the address: containers may share a name.
std::vector<std::string> host_names(const std::vector<NetworkFacts>& ranks) {
  std::vector<std::string> hosts;
  hosts.reserve(ranks.size());
  for (const auto& facts : ranks) hosts.push_back(facts.host + " " + facts.address);
  return hosts;
}

int examine_as_rank(const Topology& topology) {
  JoinOptions options;
  options.statistics = false;
  auto world = join(topology, options);
  std::vector<NetworkFacts> ranks;
  for (const auto& line : gather_text(*world.control, to_line(network_facts(topology))))
    ranks.push_back(facts_of_line(line));
  const auto times = reduce_times(world);
  const auto hosts = host_names(ranks);
  const auto transport = world.control->transport();
  std::vector<PairTime> pairs;
  if (transport != kSharedMemory) {  // which has no cables
    pairs = measured_pairs(ranks_to_pair(hosts));
    time_pairs(pairs, world, topology, hosts);
    gather_pairs(pairs, world);
  }
  if (world.rank == 0) {
    auto found = fact_observations(ranks);
    for (auto& each : time_observations(times, pairs, hosts, transport))
      found.push_back(std::move(each));
    const int advised = print_observations(found);
    print_shown("\n%s\n", advised == 0 ? "nothing to do"
                                       : (plural(advised, "thing") + " to look at").c_str());
    flush_stdout();
  }
  world.control->barrier();
  return 0;
}

int ranks_given(const Arguments& arguments, int otherwise) {
  if (!arguments.has(kNetworkDevices.name)) return otherwise;
  const auto text = arguments.value(kNetworkDevices.name);
  const auto number = parse_integer(text);
  if (!number || *number < 1 || *number > kMostRanks)
    throw Error(Exit::recipe, "--devices: '{}' is not a number of ranks from 1 to {}", text,
                kMostRanks);
  return static_cast<int>(*number);
}

/// Of all nodes.
int ranks_of(const Topology& outer, const Arguments& arguments) {
  if (outer.is_node)
    return outer.world * (outer.local_world > 0 ? outer.local_world : ranks_given(arguments, 2));
  if (outer.joined() && arguments.has(kNetworkDevices.name))
    throw Error(Exit::recipe, "--devices: a launcher has started the ranks; leave it out");
  return outer.joined() ? outer.world : ranks_given(arguments, 2);
}

/// A run waits for a name that a cluster may yet announce; here it is the finding.
void require_known(const Topology& outer) {
  if (!outer.joined() || resolves(outer.address)) return;
  throw Error(Exit::device,
              "this machine knows no host '{}', where the ranks are to meet ({}); give an address "
              "instead of a name, or add it to DNS or /etc/hosts",
              outer.address, outer.named_by);
}

}  // namespace

std::vector<NamedObservation> time_observations(const std::vector<ReduceTime>& times,
                                                const std::vector<PairTime>& pairs,
                                                const std::vector<std::string>& hosts,
                                                const std::string& transport) {
  const auto ranks = static_cast<int>(hosts.size());
  std::vector<NamedObservation> found;
  for (const auto& [bytes, seconds] : times) {
    auto text = fmt::format("{} for {} over {} ({}, median)", milliseconds_text(seconds),
                            format_bytes(bytes), plural(ranks, "rank"), transport);
    if (bytes >= 1 << 20)
      text += ", bus bandwidth " + rate_text(bus_bandwidth(bytes, seconds, ranks));
    found.push_back({"all-reduce", {std::move(text)}});
  }
  if (pairs.size() > 1) found.push_back({"slowest pair", slowest_of(pairs, hosts)});
  return found;
}

int print_observations(const std::vector<NamedObservation>& found) {
  int advised = 0;
  for (const auto& [name, each] : found) {
    print_shown("%-15s%s\n", name.c_str(), each.text.c_str());
    if (each.advice.empty()) continue;
    print_shown("%-15s-> %s\n", "", each.advice.c_str());
    ++advised;
  }
  return advised;
}

int examine_network(const Arguments& arguments) {
  const auto outer = topology_given(arguments);
  require_known(outer);
  const Recipe recipe;
  Placement placement;
  placement.ranks = ranks_of(outer, arguments);
  if (placement.ranks == 1)
    throw Error(Exit::recipe, "one rank has no network; '--devices 2' measures between two");
  return start_ranks(
      recipe, placement, outer,
      [](const Topology& topology, const Hooks&) { return examine_as_rank(topology); },
      {arguments.level, {}, nullptr});
}

}  // namespace ddptrain
