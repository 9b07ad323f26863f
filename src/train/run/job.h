// What a run starts with, settled before its first rank is.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "launch/signals.h"
#include "runs/run_folder.h"
#include "train/placement.h"
#include "train/profile/traces.h"

namespace ddptrain {

struct BatchPlan;
class SampleGenerator;
struct Training;

/// A run that is ready to start.
struct Job {
  Recipe recipe;  // resolved
  Placement placement;
  Node tree;                                  // the recipe as layered: places of its options
  std::string recipe_text;                    // the resolved recipe as YAML: ranks must agree on it
  std::function<std::string(Recipe)> record;  // that text, of what training resolved further
  std::string folder;  // the run folder; ranks that another launcher started learn it from rank 0
  std::function<std::string()> make_folder;  // asked of rank 0 where `folder` is empty
  RunStart start;                            // what the run folder records of this launch
  bool rewrite_recipe = false;               // recipe.yaml was overridden
  bool set_aside = false;                    // damaged checkpoints, as the run begins
  std::optional<Duration> pause;             // the run leaves, saved, when it has trained so long
  std::optional<std::string> checkpoint;     // to go on from
  bool may_be_local = true;   // or from a newer one of checkpoint.local, where nodes have one
  std::string without_local;  // why the run ends where they have none; empty: it begins
  std::string restart;  // "restart 1 of 3 after exit code 137": of ranks that failed; else empty
  Traces traces;        // that the run writes of itself
  bool results_to_stdout = true;  // false: the metrics at the end go to stderr, as all else
  /// Called by rank 0 when training begins, with the batch as trials found it to fit.
  std::function<void(const BatchPlan&)> report_batch = {};
  /// What generates the samples of eval.samples, of the training that was built; null: nothing
  /// does.
  std::function<std::unique_ptr<SampleGenerator>(Training&)> make_samples = {};
  Usr1 usr1 = Usr1::saves;
  std::string refusal;  // why rank 0 of a joined start must not work in the folder; empty: it may
};

}  // namespace ddptrain
