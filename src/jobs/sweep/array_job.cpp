// Array jobs of Slurm.
#include "jobs/sweep/array_job.h"

#include <fmt/format.h>

#include "base/quoting.h"

namespace ddptrain {

std::string slurm_script(const ArrayJob& job) {
  const auto command = shell_line(job.words);
  auto array = fmt::format("1-{}", job.runs);
  if (job.at_once > 0) array += fmt::format("%{}", job.at_once);
  return fmt::format(
      "#!/bin/bash\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --array={}\n"
      "#SBATCH --ntasks=1\n"
      "#SBATCH --signal=B:TERM@120\n"
      "# What your cluster asks for: --partition, --time, --cpus-per-task, --gpus.\n#\n"
      "# Submit with 'sbatch FILE'; submitted again, it resumes with what is missing. When all\n"
      "# have ended, this makes the table, and trains what failed again:\n"
      "#   cd {} && {}\n"
      "cd {} || exit 3\n"
      "exec {} --run \"$SLURM_ARRAY_TASK_ID\"\n",
      shell_word(job.name), array, shell_word(job.folder), command, shell_word(job.folder),
      command);
}

}  // namespace ddptrain
