// A run made ready and started: what run and resume share.
#pragma once

#include <vector>

#include "cli/verb.h"
#include "config/problem.h"
#include "recipe/layers/layers.h"
#include "runs/run_folder.h"
#include "train/run/rank.h"

namespace ddptrain {

/// Resolves a recipe on this machine and provides its data, before there is a run folder; ranks
/// that another program started do that where they read. `tree` is the recipe as layered.
Job make_job(Recipe& recipe, const Node& tree, const Topology& outer);
/// The same on a part of this machine.
Job make_job_on(const MachinePart& part, Recipe& recipe, const Node& tree);

/// What the run folder records of a job.
RunStart run_start(const Job& job, const Arguments& arguments, std::vector<Source> sources);

inline constexpr Flag kProfile{"--profile", "STEPS",
                               "record so many steps as a Chrome trace, in RUN/profile"};
inline constexpr Flag kTrace{"--trace", "memory",
                             "record bytes of tensors by phase, in RUN/profile"};

/// What the flags ask for. An Error (Exit::recipe) where a value is wrong.
Traces traces_of(const Arguments& arguments);

/// Whether a rule has found something.
bool reported(const Problems& problems, std::string_view rule);

/// Runs all ranks, sees to it that the run folder has their exit code, and returns it.
int start_job(const Job& job, const Topology& outer, log::Level level);

}  // namespace ddptrain
