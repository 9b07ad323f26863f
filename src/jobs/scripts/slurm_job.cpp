// sbatch's options are those of Slurm 22.05 and later, in which srun no longer inherits
// --cpus-per-task.
#include <fmt/format.h>

#include "base/quoting.h"
#include "jobs/scripts/scripts.h"

namespace ddptrain {
namespace {

std::string resources(const LaunchPlan& plan) {
  auto text = fmt::format(
      "#SBATCH --nodes={}\n"
      "#SBATCH --ntasks-per-node=1\n",
      plan.nodes);
  if (plan.gpus) text += fmt::format("#SBATCH --gpus-per-node={}\n", plan.ranks_per_node);
  return text + fmt::format("#SBATCH --cpus-per-task={}\n", plan.cores_per_node());
}

}  // namespace

std::string slurm_job(const LaunchPlan& plan) {
  return fmt::format(
      "#!/bin/bash\n"
      "# Submit with 'sbatch FILE'. Two minutes before its time limit the run saves and the job\n"
      "# is queued again; it then resumes from its newest checkpoint.\n"
      "#SBATCH --job-name={}\n"
      "{}#SBATCH --signal=USR1@120\n"
      "#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n"
      "#SBATCH --output=%x-%j.log\n"
      "# What your cluster asks for: remove one # and fill in.\n"
      "##SBATCH --time=24:00:00\n"
      "##SBATCH --partition=PARTITION\n"
      "##SBATCH --account=ACCOUNT\n"
      "cd {} || exit 3\n"
      "export SRUN_CPUS_PER_TASK=\"$SLURM_CPUS_PER_TASK\"\n"
      "srun --kill-on-bad-exit=1 {}\n"
      "code=$?\n"
      "# 138: the warning came (SIGUSR1), and a checkpoint is saved.\n"
      "if [ \"$code\" -eq 138 ]; then scontrol requeue \"$SLURM_JOB_ID\"; fi\n"
      "exit \"$code\"\n",
      shell_word(plan.name), resources(plan), shell_word(plan.folder),
      typed_command(plan, {"--nodes", std::to_string(plan.nodes), "--auto-resume"}));
}

}  // namespace ddptrain
