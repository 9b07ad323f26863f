#include "jobs/scripts/scripts.h"

#include "base/error.h"

namespace ddptrain {

namespace {

/// Under a launcher of ranks a process has one device.
void require_ranks(std::string_view launcher, const LaunchPlan& plan) {
  if (plan.has_replicas)
    throw Error(Exit::recipe, Option{"parallel.mode"},
                "'dp' is one process with several devices, and " + std::string(launcher) +
                    " starts a process for each; write 'ddp'");
}

}  // namespace

std::string launch_script(std::string_view launcher, const LaunchPlan& plan) {
  if (launcher == "slurm") return slurm_job(plan);
  if (launcher == "kubernetes") return kubernetes_jobset(plan);
  require_ranks(launcher, plan);
  if (launcher == "torchrun") return torchrun_commands(plan);
  DDP_CHECK(launcher == "mpirun", "a launcher of kPrintLaunch without a script");
  return mpirun_command(plan);
}

}  // namespace ddptrain
