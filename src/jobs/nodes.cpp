#include "jobs/nodes.h"

#include <fmt/format.h>

#include <iterator>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr int kMostNodes = 100'000;

int number_of(const Arguments& arguments, const Flag& flag, int least) {
  const auto text = arguments.value(flag.name);
  const auto number = parse_integer(text);
  if (!number || *number < least || *number > kMostNodes)
    throw Error(Exit::recipe, "{}: '{}' is not a whole number from {}", flag.name, text, least);
  return static_cast<int>(*number);
}

HostPort address_of(const Arguments& arguments) {
  const auto text = arguments.value(kAddress.name);
  const auto address = parse_host_port(text);
  if (!address)
    throw Error(Exit::recipe,
                "--address: '{}' is not HOST or HOST:PORT; write for example 'node0:29500'", text);
  return *address;
}

}  // namespace

GivenNodes given_nodes(const Arguments& arguments, const ParallelSpec& parallel) {
  GivenNodes given;
  if (arguments.has(kNodes.name)) {
    given.nodes = number_of(arguments, kNodes, 1);
  } else if (parallel.nodes.value) {
    given.nodes = static_cast<int>(*parallel.nodes.value);
    given.nodes_by = "parallel.nodes";
  }
  if (arguments.has(kNodeRank.name)) given.rank = number_of(arguments, kNodeRank, 0);
  if (arguments.has(kAddress.name)) {
    given.meeting = address_of(arguments);
  } else if (parallel.rendezvous) {
    given.meeting = parse_host_port(*parallel.rendezvous);
    given.meeting_by = "parallel.rendezvous";
  }
  return given;
}

Topology topology_given(const Arguments& arguments, const ParallelSpec& parallel) {
  return topology_among(given_nodes(arguments, parallel));
}

std::string devices_by_launcher(const ParallelSpec& parallel, const Topology& outer) {
  if (!outer.joined() || (outer.is_node && outer.local_world == 0)) return {};
  const auto started = [&](int ranks) { return "a launcher has started " + plural(ranks, "rank"); };
  const auto& ids = parallel.devices.ids;
  if (!ids.empty()) {
    if (std::ssize(ids) == outer.local_world) return {};
    return fmt::format("parallel.devices names {}, and {} on this node, which use the first {}",
                       plural(std::ssize(ids), "device"), started(outer.local_world),
                       outer.local_world);
  }
  const auto& written = parallel.devices.count.value;
  const int ranks = outer.is_node ? outer.world * outer.local_world : outer.world;
  if (!written || *written == ranks) return {};
  return fmt::format(
      "parallel.devices is {}, and {}: the run has {}; 'parallel.devices=auto' "
      "leaves the number to the launcher",
      *written, started(ranks), plural(ranks, "device"));
}

}  // namespace ddptrain
