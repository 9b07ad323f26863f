// One rank of a run, from joining the others to its end: steps 9 to 13 of docs/architecture.md.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "distributed/world.h"
#include "launch/failure.h"
#include "train/device_memory.h"
#include "train/placement.h"
#include "train/profile/traces.h"
#include "train/run/ending.h"
#include "train/run/run_folder.h"
#include "train/run/torch_warnings.h"

namespace ddptrain {

struct Hooks;

/// A run that is ready to start.
struct Job {
  Recipe recipe;  // resolved
  Placement placement;
  Node tree;                                  // the recipe as layered: places of its options
  std::string recipe_text;                    // the resolved recipe as YAML: ranks must agree on it
  std::function<std::string(Recipe)> record;  // that text, of what training resolved further
  std::string
      folder;  // the run folder; ranks that joined somebody else's launcher learn it from rank 0
  std::function<std::string()> make_folder;  // asked of rank 0 where `folder` is empty
  RunStart start;                            // what the run folder records of this launch
  bool rewrite_recipe = false;               // recipe.yaml was overridden
  bool set_aside = false;                    // damaged checkpoints, as the run begins
  std::optional<Duration> pause;             // the run leaves, saved, when it has trained so long
  std::optional<std::string> checkpoint;     // to go on from
  Traces traces;                             // that the run writes of itself
  bool results_to_stdout = true;  // false: the metrics at the end are said on stderr, as all else
  /// Called by rank 0 when training begins, with the batch as trials found it to fit.
  std::function<void(const BatchPlan&)> report_batch = {};
  std::string refusal;  // why rank 0 of a joined start must not work in the folder; empty: it may
};

/// How a run ended, for run.json and the exit code.
struct Outcome {
  Exit code = Exit::done;
  int signal = 0;
  std::string reason;
  std::string folder;
  NamedValues metrics;  // of the last evaluation, and of the test split
  RunEnding ending;     // of rank 0
  bool begun = true;    // false: asked to stop before the first step, of which nothing is kept
};

/// Runs this rank to its end. Errors are thrown; the outcome's code is `done` or `expect`.
Outcome run_rank(const Job& job, const Topology& topology, const Hooks& hooks);

/// Prepares this process for torch work: the accelerator, threads, determinism, tf32. Before the
/// first tensor.
void prepare_process(const Recipe& recipe, const Placement& placement);

/// Meets the other ranks of a topology with the recipe's time-outs.
World join_world(const Recipe& recipe, const Placement& placement, const Topology& topology);

/// Runs `body`; where a device's memory ends, the error says what would do.
template <class Body>
auto explained(const Placement& placement, World& world, Body body) {
  try {
    return body(world);
  } catch (...) {
    explain_memory(placement, world.local_rank, std::current_exception());
  }
}

/// Runs `body` in a world that ends after what it throws was recorded. A rank that only lost
/// another throws that one's cause, where it can be known (distributed/failure_board.h).
template <class Body>
auto in_world(const Recipe& recipe, const Placement& placement, const Topology& topology,
              Body body) {
  const TorchWarnings warnings;
  auto world = join_world(recipe, placement, topology);
  return recorded(topology, [&] {
    try {
      return explained(placement, world, body);
    } catch (...) {
      if (!world.board) throw;
      rethrow_cause(world, std::current_exception());
    }
  });
}

}  // namespace ddptrain
