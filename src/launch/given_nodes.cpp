#include "launch/given_nodes.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "launch/several_nodes.h"

namespace ddptrain {
namespace {

[[noreturn]] void refuse_nodes(const std::string& what) { throw Error(Exit::recipe, what); }

int port_of_meeting(const GivenNodes& given) { return given.meeting->port.value_or(kUsualPort); }

std::string text_of_meeting(const GivenNodes& given) {
  return fmt::format("{}:{}", given.meeting->host, port_of_meeting(given));
}

/// Nodes of a launcher's ranks; nothing where nodes have different numbers of them.
std::optional<int> nodes_of(const Topology& found) {
  if (found.is_node) return found.world;
  if (found.local_world < 1 || found.world % found.local_world != 0) return {};
  return found.world / found.local_world;
}

bool is_process_per_node(const Topology& found) { return found.is_node || found.local_world == 1; }

/// Of this node among them; nothing where that is not known.
std::optional<int> node_rank_of(const Topology& found) {
  if (is_process_per_node(found)) return found.rank;
  if (!nodes_of(found)) return {};
  return found.rank / found.local_world;
}

void require_same_nodes(const GivenNodes& given, const Topology& found) {
  const auto nodes = nodes_of(found);
  if (given.nodes && nodes && *nodes != *given.nodes)
    refuse_nodes(fmt::format(
        "{} is {}, and a launcher started this process on {}: start it on {}, or leave {} out",
        given.nodes_by, *given.nodes, plural(*nodes, "node"), *given.nodes, given.nodes_by));
  const auto rank = node_rank_of(found);
  if (given.rank && rank && *rank != *given.rank)
    refuse_nodes(fmt::format(
        "--node-rank is {}, and a launcher started this process as node {}: leave --node-rank out",
        *given.rank, *rank));
}

/// An address that a person wrote into the environment is as good as one that is given.
void meet_at(const GivenNodes& given, Topology& found) {
  if (!given.meeting) return;
  const auto& host = given.meeting->host;
  const int port = port_of_meeting(given);
  if (!found.address_is_derived && (found.address != host || found.port != port))
    refuse_nodes(fmt::format("{} is '{}', and {} are '{}:{}' in the environment: give one of them",
                             given.meeting_by, text_of_meeting(given), found.named_by,
                             found.address, found.port));
  found.address = host;
  found.port = port;
  found.named_by = given.meeting_by;
  found.address_is_derived = false;
}

Topology started_by_a_launcher(const GivenNodes& given, Topology found) {
  require_same_nodes(given, found);
  if (!given.nodes || !is_process_per_node(found)) {
    if (found.joined()) meet_at(given, found);
    return found;
  }
  if (*given.nodes == 1 && !found.is_node) return {};  // this process starts all ranks itself
  meet_at(given, found);
  if (!found.is_node) found.local_world = 0;  // its devices decide
  found.is_node = true;
  found.local_rank = 0;
  return found;
}

/// Without a launcher.
Topology started_by_hand(const GivenNodes& given) {
  const int nodes = *given.nodes;
  const auto who = fmt::format("{} is {}", given.nodes_by, nodes);
  if (!given.rank)
    refuse_nodes(
        fmt::format("{}, and no launcher says which of them this is: add '--node-rank K' on each "
                    "node, from 0 to {}, or start through a launcher ('--print "
                    "slurm|torchrun|mpirun|jobset|trainjob|pytorchjob' shows how); '{}1' trains on "
                    "this machine alone",
                    who, nodes - 1, given.nodes_by + (given.nodes_by == "--nodes" ? " " : "=")));
  if (!given.meeting)
    refuse_nodes(
        who +
        ", and nothing says where they meet: add '--address HOST[:PORT]', the same on every node, "
        "with a host name or address of node 0, or 'parallel.rendezvous: HOST:PORT'");
  Topology node;
  node.is_node = true;
  node.world = nodes;
  node.rank = *given.rank;
  node.local_world = 0;
  node.address = given.meeting->host;
  node.port = port_of_meeting(given);
  node.named_by = given.meeting_by;
  return node;
}

void require_rank_among_nodes(const GivenNodes& given) {
  if (!given.rank) return;
  if (given.nodes && *given.rank >= *given.nodes)
    refuse_nodes(fmt::format("--node-rank is {}, and {} is {}: nodes are numbered from 0 to {}",
                             *given.rank, given.nodes_by, *given.nodes, *given.nodes - 1));
}

void require_nodes(const GivenNodes& given) {
  if (given.rank)
    refuse_nodes(
        "--node-rank is one of several nodes, and nothing says of how many: add '--nodes N', or "
        "'parallel.nodes: N'");
  if (given.meeting && given.meeting_by == "--address")
    refuse_nodes(
        "--address is where several nodes meet, and nothing says how many: add '--nodes N', or "
        "'parallel.nodes: N'");
}

}  // namespace

Topology topology_among(const GivenNodes& given, const Environment& environment) {
  require_rank_among_nodes(given);
  const bool alone = asks_for_single_node(environment);
  if (alone && given.nodes.value_or(1) > 1)
    refuse_nodes(fmt::format("{} is {}, and {} is 1 in the environment: unset it, or leave {} out",
                             given.nodes_by, *given.nodes, kSingleNode, given.nodes_by));
  if (alone) return {};
  if (const auto found = topology_of_launcher(environment))
    return started_by_a_launcher(given, *found);
  if (given.nodes.value_or(1) > 1) return started_by_hand(given);
  if (!given.nodes) require_nodes(given);
  refuse_several_nodes(environment);
  return {};
}

Topology topology_among(const GivenNodes& given) {
  return topology_among(given, [](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace ddptrain
