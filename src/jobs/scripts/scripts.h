// Scripts and manifests that start a run under another launcher, one file for each.
#pragma once

#include <string>

#include "jobs/scripts/launch_plan.h"

namespace ddptrain {

inline constexpr Flag kPrintLaunch{
    "--print", "slurm|torchrun|kubernetes|mpirun",
    "write what starts this run under a launcher to stdout instead; starts nothing"};

/// A script for sbatch: a process on each node, which starts the ranks of its node. Warned by
/// SIGUSR1 before the time limit, the run saves, and the job is queued again.
std::string slurm_job(const LaunchPlan& plan);

/// torchrun's command of each node. An Error (Exit::recipe) where several nodes have no address.
std::string torchrun_commands(const LaunchPlan& plan);

/// A JobSet: a pod on each node, which meet at the first one's host name. All are started again
/// where one fails.
std::string kubernetes_jobset(const LaunchPlan& plan);

/// Open MPI's command. An Error (Exit::recipe) where several nodes have no address.
std::string mpirun_command(const LaunchPlan& plan);

/// The one that `launcher` of kPrintLaunch's words names.
std::string launch_script(std::string_view launcher, const LaunchPlan& plan);

}  // namespace ddptrain
