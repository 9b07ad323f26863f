// Starts the ranks of anything that runs on several devices: run, resume, eval, predict.
#pragma once

#include <functional>
#include <string>

#include "base/output/log.h"
#include "launch/signals.h"
#include "launch/topology.h"
#include "recipe/recipe.h"
#include "train/loop/loop.h"
#include "train/placement.h"

namespace ddptrain {

/// What one rank does; returns its exit code. The hooks bring signals and take signs of life.
using RankMain = std::function<int(const Topology&, const Hooks&)>;

struct StartOptions {
  log::Level level = log::Level::normal;
  std::string folder;          // of log.txt and log.rankN.txt; empty: no log files
  const Node* tree = nullptr;  // the recipe as layered, for the places of errors
  bool makes_logs = false;     // without `folder`: in the one that rank 0 makes
  Usr1 usr1 = Usr1::saves;
  bool restarts = false;  // this process is to outlive the one rank of its node too
};

/// Joins where another launcher started this process (`outer`); otherwise runs one rank
/// here, or forks several. Called before this process has a second thread or has touched torch.
/// Returns the exit code of the whole.
int start_ranks(const Recipe& recipe, const Placement& placement, const Topology& outer,
                const RankMain& rank_main, const StartOptions& options);

}  // namespace ddptrain
