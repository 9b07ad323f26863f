#include "jobs/scripts/scripts.h"

#include "base/error.h"

namespace ddptrain {
namespace {

/// Under a launcher of ranks a process has one device.
void require_ranks(std::string_view launcher, const LaunchPlan& plan) {
  if (plan.has_replicas)
    throw Error(
        Exit::recipe, Option{"parallel.mode"},
        "'dp' is one process with several devices, and {} starts a process for each; write 'ddp'",
        launcher);
}

/// Pods have the same port each, and names that the cluster gives them.
void require_no_address(const LaunchPlan& plan) {
  if (plan.meeting)
    throw Error(Exit::recipe,
                "pods meet at the host name that the cluster gives the first of them; leave "
                "'--address' and 'parallel.rendezvous' out");
}

std::string manifest(std::string_view kind, const LaunchPlan& plan) {
  require_no_address(plan);
  if (kind == "trainjob") return trainjob(plan);
  if (kind == "pytorchjob") return pytorchjob(plan);
  DDP_CHECK(kind == "jobset" || kind == "kubernetes", "a launcher without a script");
  return jobset(plan);
}

}  // namespace

std::string launch_script(std::string_view launcher, const LaunchPlan& plan) {
  if (launcher == "slurm") return slurm_job(plan);
  if (launcher != "torchrun" && launcher != "mpirun") return manifest(launcher, plan);
  require_ranks(launcher, plan);
  return launcher == "torchrun" ? torchrun_commands(plan) : mpirun_command(plan);
}

}  // namespace ddptrain
