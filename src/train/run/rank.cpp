#include "train/run/rank.h"

#include <chrono>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/output/progress.h"
#include "base/version.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/manifest.h"
#include "distributed/world.h"
#include "recipe/period.h"
#include "runs/local_folder.h"
#include "train/build/agreement.h"
#include "train/build/batch_norm_rows.h"
#include "train/build/build.h"
#include "train/build/disk_space.h"
#include "train/build/weights_memory.h"
#include "train/loop/load_together.h"
#include "train/loop/local_checkpoints.h"
#include "train/loop/loop.h"
#include "train/loop/state.h"
#include "train/requests.h"
#include "train/results/expect.h"
#include "train/run/recorded_run.h"
#include "train/run/samples_file.h"
#include "train/step/generated_samples.h"
#include "train/training.h"
#include "train/transfer/initial_weights.h"

namespace ddptrain {
namespace {

std::string shared_folder(const Job& job, World& world) {
  std::string folder = job.folder;
  if (folder.empty() && world.rank == 0 && job.make_folder) folder = job.make_folder();
  return broadcast_text(*world.control, folder, 0);
}

// What only rank 0 can know, so that all ranks fail, or go on, in the same way.
void share_start(Job& job, World& world) {
  const auto refusal = broadcast_text(*world.control, job.refusal, 0);
  if (!refusal.empty()) throw Error(Exit::data, refusal);
  const auto checkpoint = broadcast_text(*world.control, job.checkpoint.value_or(""), 0);
  job.checkpoint = checkpoint.empty() ? std::nullopt : std::optional(checkpoint);
  job.without_local = broadcast_text(*world.control, job.without_local, 0);
}

TrainingPlan run_plan(const Job& job, const std::optional<Checkpoint>& checkpoint) {
  TrainingPlan plan{job.recipe, job.placement};
  if (checkpoint) plan.saved = saved_data(*checkpoint);
  plan.tries_sizes = true;
  return plan;
}

/// The signal that asks a rank to stop; 0: none does.
int asked_to_stop(World& world, const Hooks& hooks) {
  Requests mine;
  if (hooks.stop_requested) mine.stop = hooks.stop_requested();
  return agree(*world.control, mine).stop.signal;
}

RunResult not_begun(int signal, const std::string& folder) {
  RunResult ending;
  ending.reason = "interrupted";
  ending.signal = signal;
  ending.begun = false;
  ending.folder = folder;
  return ending;
}

RunState start(Training& training, const std::optional<Checkpoint>& checkpoint,
               const std::string& folder) {
  if (checkpoint) return restore(training, *checkpoint);
  std::optional<Transfer> transfer;
  with_weights([&] { transfer = start_from_weights(training); });
  if (transfer && training.world->rank == 0) write_transfer_file(*transfer, folder);
  return first_state(training);
}

struct StopAsked {};

/// Null where a signal asked to stop while data were read. Of several ranks none leaves: the others
/// would wait for it.
std::unique_ptr<Training> build_unless_stopped(const TrainingPlan& plan, World& world,
                                               const Hooks& hooks) {
  const ProgressListener listener([&] {
    if (world.size == 1 && hooks.stop_requested && hooks.stop_requested().signal != 0)
      throw StopAsked();
  });
  try {
    return build(plan, world, [&] {
      if (hooks.beat) hooks.beat(0, "batch.micro");
    });
  } catch (const StopAsked&) {
    return nullptr;
  }
}

using Clock = std::chrono::steady_clock;

/// What all ranks know of it.
void judge(RunResult& ending, const Job& job, const RunState& state, const std::string& folder) {
  ending.folder = folder;
  ending.last = state.evaluation;
  const bool ended = ending.signal == 0 && ending.reason != kPaused;
  if (ended && !meets(job.recipe, result_scores(ending), ending.weights))
    ending.code = Exit::expect;
}

/// Null where the recipe has none. The folder is new with a new run.
std::unique_ptr<LocalCheckpoints> local_checkpoints(const Job& job, World& world,
                                                    const std::string& folder) {
  const auto& local = job.recipe.checkpoint.local;
  if (!local) return nullptr;
  std::string name, failure;
  try {
    if (world.rank == 0) name = local_folder_name(folder);
  } catch (const Error& error) {
    failure = error.what();
  }
  failure = broadcast_text(*world.control, failure, 0);
  if (!failure.empty()) throw Error(Exit::data, failure);
  name = broadcast_text(*world.control, name, 0);
  return std::make_unique<LocalCheckpoints>(world, local->dir + "/" + name);
}

std::int64_t step_of_checkpoint(const std::string& folder) {
  const auto file = folder + "/MANIFEST.json";
  return parse_manifest(read_text(file), file).step;
}

/// The newest, of the run folder or of the nodes' disks; empty: the run begins.
std::optional<Checkpoint> newest_checkpoint_of(const Job& job, World& world,
                                               LocalCheckpoints* local) {
  if (local && job.may_be_local && !job.set_aside) {
    const auto shared = job.checkpoint ? step_of_checkpoint(*job.checkpoint) : 0;
    auto newer = with_weights([&] { return local->newest_after(shared); });
    if (newer) {
      if (world.rank == 0)
        log::info("resuming from the {}local checkpoint of step {} in {}",
                  job.without_local.empty() ? "newer " : "", newer->step, local->root());
      return newer;
    }
    if (world.rank == 0 && job.checkpoint)
      log::info("the nodes have no newer checkpoint in {}", local->root());
  }
  if (!job.without_local.empty()) throw Error(Exit::data, job.without_local);
  if (!job.checkpoint) return {};
  return with_weights([&] { return load_together(*job.checkpoint, world); });
}

void agree_on_start(Job& job, World& world) {
  share_start(job, world);
  agree(world, "the program", version() + " with torch " + torch_version());
  agree_on_recipe(world, job.recipe_text);
}

/// The writers of the run folder on rank 0, then the profiler's traces.
Callbacks run_observers(RecordedRun* record, const Job& job, const Training& training,
                        std::int64_t first_step, const std::string& folder) {
  auto observers = record ? record->writers() : Callbacks();
  for (auto& trace : make_traces(job.traces, training, first_step, folder))
    observers.push_back(std::move(trace));
  return observers;
}

/// Rank 0 writes what the run was for.
void write_ending(RunResult& ending, const Training& training, const RunState& state) {
  write_samples(training, ending.scored.samples, ending.weights, ending.folder);
  describe(ending, training, state);
}

RunResult run_in(World& world, Job job, Hooks hooks) {
  const auto began = Clock::now();
  agree_on_start(job, world);
  const NewRunFolder made(job, world, shared_folder(job, world));
  const auto& folder = made.path();
  if (hooks.in_folder) hooks.in_folder(folder);
  if (hooks.beat) hooks.beat(0, "building");  // from here on the step's time-out holds
  if (const int signal = asked_to_stop(world, hooks)) return not_begun(signal, folder);
  const auto local = local_checkpoints(job, world, folder);
  auto checkpoint = newest_checkpoint_of(job, world, local.get());
  const auto training = build_unless_stopped(run_plan(job, checkpoint), world, hooks);
  if (!training) return not_begun(hooks.stop_requested().signal, folder);
  auto state = start(*training, checkpoint, folder);
  checkpoint.reset();
  require_rows_for_batch_norm(*training);
  require_space(*training, state.position.step, folder + "/checkpoints");
  if (local)
    require_local_space(*training, state.position.step, local->root(), local->ranks_here());
  if (const int signal = asked_to_stop(world, hooks)) return not_begun(signal, folder);
  const auto samples = job.make_samples ? job.make_samples(*training) : nullptr;
  hooks.samples = samples.get();
  agree(world, "the step at which training begins", std::to_string(state.position.step));
  if (world.rank == 0 && job.report_batch) job.report_batch(training->placement.batch);
  std::unique_ptr<RecordedRun> record;
  if (world.rank == 0) record = std::make_unique<RecordedRun>(job, *training, folder);
  auto observers = run_observers(record.get(), job, *training, state.position.step, folder);
  if (record && !job.restart.empty())
    log::warning("{}: training continues after step {}", job.restart, state.position.step);
  hooks.checkpoints = folder + "/checkpoints";
  if (local) {
    local->forget_after(state.position.step);
    hooks.local_checkpoints = local->root();
  }
  if (job.pause) hooks.pause_at = in_steps(*job.pause, training->length).value_or(0);
  auto ending = train(*training, state, hooks, observers);
  judge(ending, job, state, folder);
  if (local && ending.signal == 0 && ending.reason != kPaused) local->remove();
  if (!record) return ending;
  write_ending(ending, *training, state);
  ending.seconds = std::chrono::duration<double>(Clock::now() - began).count();
  record->end(ending);
  return ending;
}

}  // namespace

RunResult run_rank(const Job& job, const Topology& topology, const Hooks& hooks,
                   const AtEnd& at_end) {
  if (job.recipe.parallel.affinity == Affinity::cores) bind_rank(topology, job.placement);
  prepare_process(job.recipe, job.placement);
  return in_world(job.recipe, job.placement, topology, [&](World& world) {
    auto ending = run_in(world, job, hooks);
    if (world.rank == 0 && at_end) at_end(ending);
    world.control->barrier();
    return ending;
  });
}

}  // namespace ddptrain
