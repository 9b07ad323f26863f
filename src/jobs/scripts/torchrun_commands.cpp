#include <fmt/format.h>

#include "base/quoting.h"
#include "jobs/scripts/scripts.h"

namespace ddptrain {
namespace {

std::string torchrun_of_node(const LaunchPlan& plan, const HostPort& meeting, int node) {
  return shell_line({"torchrun", "--no-python", fmt::format("--nnodes={}", plan.nodes),
                     fmt::format("--node-rank={}", node),
                     fmt::format("--nproc-per-node={}", plan.ranks_per_node),
                     "--master-addr=" + meeting.host,
                     fmt::format("--master-port={}", *meeting.port)}) +
         " \\\n  " + typed_command(plan, {"--auto-resume"}) + "\n";
}

}  // namespace

std::string torchrun_commands(const LaunchPlan& plan) {
  const auto begin = fmt::format("cd {} || exit 3\n", shell_word(plan.folder));
  if (plan.nodes == 1)
    return fmt::format("{}{} \\\n  {}\n", begin,
                       shell_line({"torchrun", "--no-python", "--standalone",
                                   fmt::format("--nproc-per-node={}", plan.ranks_per_node)}),
                       typed_command(plan, {"--auto-resume"}));
  const auto meeting = meeting_of(plan);
  auto text = fmt::format("# A command for each node; node 0 is {}.\n{}", meeting.host, begin);
  for (int node = 0; node < plan.nodes; ++node)
    text += fmt::format("\n# on node {}\n", node) + torchrun_of_node(plan, meeting, node);
  return text;
}

}  // namespace ddptrain
