// What a launcher must know to start a run.
#pragma once

#include <string>
#include <vector>

#include "base/host_port.h"
#include "cli/verb.h"
#include "recipe/recipe.h"

namespace ddptrain {

struct LaunchPlan {
  std::string name;  // of the recipe
  int nodes = 1;
  int ranks_per_node = 1;     // or replicas of the one process
  bool has_replicas = false;  // mode dp
  bool gpus = false;
  int cores_per_rank = 1;
  std::optional<HostPort> meeting = {};  // null: the launcher knows it, or it is to be given
  std::vector<std::string> variables;    // names of those that ranks need, set where it is typed
  std::string folder;                    // where the command is typed
  std::vector<std::string> words;        // that run it, without the flags of nodes: program first

  int ranks() const { return nodes * ranks_per_node; }
  int cores_per_node() const { return ranks_per_node * cores_per_rank; }
  /// Replicas are those of one process.
  int processes_per_pod() const { return has_replicas ? 1 : ranks_per_node; }
};

/// Of a checked recipe. An Error (Exit::recipe) where the recipe leaves open what only the machines
/// of the cluster could decide, or nodes and devices do not go together; where there are several
/// reasons, all but the last are logged.
LaunchPlan launch_plan_of(const Recipe& recipe, const Arguments& arguments);

/// The words of the command, and more behind them, as a shell reads them.
std::string typed_command(const LaunchPlan& plan, const std::vector<std::string>& more = {});

/// Host and port of node 0. An Error (Exit::recipe) where none is given.
HostPort meeting_of(const LaunchPlan& plan);

}  // namespace ddptrain
