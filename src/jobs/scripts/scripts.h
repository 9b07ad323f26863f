// Scripts and manifests that start a run under another launcher, one file for each.
#pragma once

#include <string>

#include "jobs/scripts/launch_plan.h"

namespace ddptrain {

inline constexpr Flag kPrintLaunch{
    "--print", "slurm|torchrun|mpirun|jobset|trainjob|pytorchjob|kubernetes",
    "write what starts this run under a launcher to stdout instead, and start nothing; kubernetes "
    "is jobset"};

/// A script for sbatch: a process on each node, which starts the ranks of its node. Warned by
/// SIGUSR1 before the time limit, the run saves, and the job is queued again.
std::string slurm_job(const LaunchPlan& plan);

/// torchrun's command of each node. An Error (Exit::recipe) where several nodes have no address.
std::string torchrun_commands(const LaunchPlan& plan);

/// A JobSet of Kubernetes: a pod on each node, which meet at the first one's host name. All are
/// started again where one fails.
std::string jobset(const LaunchPlan& plan);

/// A TrainJob of Kubeflow Trainer 2 and its TrainingRuntime, two documents: a JobSet as above, in
/// which the operator names the nodes.
std::string trainjob(const LaunchPlan& plan);

/// A PyTorchJob of Kubeflow's training operator: a Master and Workers, a pod on each node. A pod
/// that fails is started again, and so are the others, which lose it.
std::string pytorchjob(const LaunchPlan& plan);

/// Open MPI's command. An Error (Exit::recipe) where several nodes have no address.
std::string mpirun_command(const LaunchPlan& plan);

/// The one that `launcher` of kPrintLaunch's words names. An Error (Exit::recipe) where the plan
/// has what that launcher decides itself, or cannot do.
std::string launch_script(std::string_view launcher, const LaunchPlan& plan);

}  // namespace ddptrain
