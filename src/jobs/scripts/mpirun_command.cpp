// Open MPI's options; -x gives the ranks a variable.
#include <fmt/format.h>

#include "base/quoting.h"
#include "base/text.h"
#include "jobs/scripts/scripts.h"

namespace ddptrain {
namespace {

/// The first is where the nodes meet; the others are to be filled in.
std::string hosts_of(const LaunchPlan& plan, const std::string& first) {
  std::vector<std::string> hosts{fmt::format("{}:{}", first, plan.ranks_per_node)};
  for (int node = 1; node < plan.nodes; ++node)
    hosts.push_back(fmt::format("NODE{}:{}", node, plan.ranks_per_node));
  return join(hosts, ",");
}

}  // namespace

std::string mpirun_command(const LaunchPlan& plan) {
  const auto begin = fmt::format("cd {} || exit 3\n", shell_word(plan.folder));
  const auto ranks = std::to_string(plan.ranks());
  if (plan.nodes == 1)
    return fmt::format("{}{} \\\n  {}\n", begin,
                       shell_line({"mpirun", "-np", ranks, "--bind-to", "none"}),
                       typed_command(plan, {"--auto-resume"}));
  const auto meeting = meeting_of(plan);
  std::vector<std::string> words{"mpirun",
                                 "-np",
                                 ranks,
                                 "--host",
                                 hosts_of(plan, meeting.host),
                                 "--map-by",
                                 fmt::format("ppr:{}:node", plan.ranks_per_node),
                                 "--bind-to",
                                 "none",
                                 "-x",
                                 "MASTER_ADDR=" + meeting.host,
                                 "-x",
                                 fmt::format("MASTER_PORT={}", *meeting.port)};
  for (const auto& name : plan.variables) words.insert(words.end(), {"-x", name});
  return fmt::format(
      "# Replace NODE1 and further names by those of the other nodes.\n{}{} \\\n  {}\n", begin,
      shell_line(words), typed_command(plan, {"--auto-resume"}));
}

}  // namespace ddptrain
