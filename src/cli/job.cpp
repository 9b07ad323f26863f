#include "cli/job.h"

#include "base/error.h"
#include "cli/start.h"
#include "config/encode.h"
#include "train/catalogs.h"

namespace ddptrain {

RunStart run_start(const Job& job, const Arguments& arguments, std::vector<Source> sources) {
  RunStart start;
  start.name = job.recipe.name;
  start.recipe_text = job.recipe_text;
  start.sources = std::move(sources);
  start.command_line = arguments.command_line;
  start.seed = job.recipe.seed;
  start.device = job.placement.cuda ? "cuda" : "cpu";
  start.ranks = job.placement.ranks;
  start.replicas = job.placement.replicas;
  start.threads = job.placement.threads;
  return start;
}

Job make_job(const Recipe& recipe, const Topology& outer) {
  Job job;
  job.placement = place(recipe, outer);
  job.recipe = resolved(recipe, job.placement);
  job.recipe_text = to_yaml(encode(job.recipe, &all_catalogs()));
  return job;
}

int start_job(const Job& job, const Topology& outer, log::Level level) {
  const auto one_rank = [&](const Topology& topology, const Hooks& hooks) {
    const auto outcome = run_rank(job, topology, hooks);
    if (topology.rank == 0) note_result(outcome.folder, outcome.reason, outcome.metrics);
    const int code = outcome.signal ? 128 + outcome.signal : static_cast<int>(outcome.code);
    if (topology.rank == 0 && job.folder.empty()) note_exit(outcome.folder, code);
    return code;
  };
  try {
    const int code = start_ranks(job.recipe, job.placement, outer, one_rank, {level, job.folder});
    if (!job.folder.empty()) note_exit(job.folder, code);
    return code;
  } catch (const Error& error) {
    if (!job.folder.empty()) note_exit(job.folder, static_cast<int>(error.code()));
    throw;
  }
}

}  // namespace ddptrain
