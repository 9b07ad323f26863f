// Several machines.
#include <fmt/format.h>

#include "base/host_port.h"
#include "base/text.h"
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

std::int64_t written_nodes(const RuleContext& rule) {
  return rule.recipe.parallel.nodes.value.value_or(1);
}

void nodes_have_ranks(const RuleContext& rule) {
  if (written_nodes(rule) > 1 && !has_ranks(rule.recipe.parallel.mode))
    rule.error("parallel.nodes", "{} train together by ranks; write 'parallel.mode: ddp'",
               plural(written_nodes(rule), "node"));
}

void nodes_share_devices_evenly(const RuleContext& rule) {
  const auto& [count, ids] = rule.recipe.parallel.devices;
  const auto nodes = written_nodes(rule);
  if (!count.value || !ids.empty() || *count.value % nodes == 0) return;
  const auto less = *count.value / nodes * nodes;
  rule.error("parallel.devices", "{} cannot be shared evenly by {}; nearest: {}{}",
             plural(*count.value, "device"), plural(nodes, "node"),
             less > 0 ? fmt::format("{}, ", less) : "", less + nodes);
}

void a_rendezvous_is_a_host_and_port(const RuleContext& rule) {
  const auto& rendezvous = rule.recipe.parallel.rendezvous;
  if (rendezvous && !parse_host_port(*rendezvous))
    rule.error("parallel.rendezvous", "'{}' is not HOST:PORT; write for example 'node0:29500'",
               *rendezvous);
}

void a_rendezvous_has_nodes(const RuleContext& rule) {
  const auto& parallel = rule.recipe.parallel;
  if (parallel.rendezvous && parallel.nodes.value == 1)
    rule.warn("parallel.rendezvous", "one node has no other to meet");
}

constexpr Rule kNodeRules[] = {
    {{"nodes-without-ranks", "Several nodes want mode ddp.",
      "The other modes are one process, which cannot use devices of another machine.",
      "parallel: {nodes: 2}", "parallel: {mode: ddp, nodes: 2}"},
     nodes_have_ranks},
    {{"nodes-devices", "Nodes share devices evenly.",
      "'parallel.devices' counts those of all nodes, and each node starts the same number of "
      "ranks.",
      "parallel: {mode: ddp, nodes: 3, devices: 8}", "parallel: {mode: ddp, nodes: 4, devices: 8}"},
     nodes_share_devices_evenly},
    {{"rendezvous", "A rendezvous is a host and a port.",
      "Every node connects to it; node 0 has the host's address and serves the port.",
      "parallel: {mode: ddp, nodes: 2, rendezvous: tcp://node0}",
      "parallel: {mode: ddp, nodes: 2, rendezvous: node0:29500}"},
     a_rendezvous_is_a_host_and_port},
    {{"rendezvous-alone", "Only several nodes have a rendezvous.",
      "Ranks of one machine meet in a file, which needs no port.",
      "parallel: {mode: ddp, nodes: 1, rendezvous: node0:29500}",
      "parallel: {mode: ddp, nodes: 2, rendezvous: node0:29500}"},
     a_rendezvous_has_nodes},
};

}  // namespace

std::vector<Rule> node_rules() { return {std::begin(kNodeRules), std::end(kNodeRules)}; }

}  // namespace ddptrain
