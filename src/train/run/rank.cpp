#include "train/run/rank.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>

#include "accelerator/accelerator.h"
#include "accelerator/devices.h"
#include "base/error.h"
#include "base/output/log.h"
#include "base/output/progress.h"
#include "base/text.h"
#include "base/version.h"
#include "callbacks/callback.h"
#include "callbacks/writers.h"
#include "checkpoint/checkpoint.h"
#include "data/dataset.h"
#include "launch/affinity.h"
#include "recipe/period.h"
#include "recipe/stages.h"
#include "train/build/agreement.h"
#include "train/build/batch_norm_rows.h"
#include "train/build/build.h"
#include "train/build/disk_space.h"
#include "train/build/weights_memory.h"
#include "train/requests.h"
#include "train/run/best_evaluation.h"
#include "train/run/data_file.h"
#include "train/run/expect.h"
#include "train/run/loop.h"
#include "train/run/run_folder.h"
#include "train/run/samples_file.h"
#include "train/run/state.h"
#include "train/run/weights.h"
#include "train/training.h"

namespace ddptrain {
namespace {

Due due_every(const Period& period) {
  return [period, last = 0.0](const RunView& run) mutable {
    if (!period.timed()) return period.due(run.step);
    if (!period.due_after(run.seconds - last)) return false;
    last = run.seconds;
    return true;
  };
}

/// Status line, metrics.csv, tables, events.jsonl and TensorBoard's file in a run folder; for rank
/// 0.
Callbacks make_writers(const Training& training, const std::string& folder) {
  const Period period(training.recipe.log.every, training.length);
  Callbacks writers;
  writers.push_back(make_status_line(due_every(period)));
  writers.push_back(make_metrics_csv(folder + "/metrics.csv"));
  writers.push_back(make_tables_csv(folder));
  writers.push_back(make_events_jsonl(folder + "/events.jsonl", due_every(period)));
  if (training.recipe.log.tensorboard)
    writers.push_back(make_tensorboard(folder + "/tensorboard", due_every(period)));
  return writers;
}

std::chrono::milliseconds milliseconds(const Duration& duration) {
  return std::chrono::milliseconds(std::llround(duration.count * 1000));
}

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
}

/// What `expect` judges: the scores of the weights that are the run's result.
NamedValues result_metrics(const RunResult& result, const Outcome& outcome) {
  auto metrics = result.scored.values;
  if (metrics.empty()) return outcome.metrics;
  if (result.test)
    for (const auto& value : result.test->found.values) metrics.push_back(value);
  return metrics;
}

bool met(const Recipe& recipe, const NamedValues& metrics, const ScoredWeights& weights) {
  bool all = true;
  const auto whose = weights.name.empty() ? "" : " (" + to_text(weights) + ")";
  for (const auto& expected : expectations(recipe, metrics)) {
    if (!expected.met)
      log::error("expect: " + expected.metric + " is " +
                 (expected.value ? short_metric(*expected.value) + whose : "not computed") + ", " +
                 expected.bounds + " was expected");
    all = all && expected.met;
  }
  return all;
}

using Clock = std::chrono::steady_clock;

/// What of the validation split `predict` could read: a sample's own file, else the data's.
std::string some_input(const Training& t) {
  const auto name = t.data->sample_name(Split::valid, 0);
  if (std::filesystem::is_regular_file(name)) return name;
  for (const auto* option : {"file", "root"}) {
    const auto* given = t.recipe.data.node().find(option);
    if (given && !given->is_null() && std::filesystem::exists(given->text)) return given->text;
  }
  return {};
}

RunEnding ending_of(const Training& t, const RunState& state, const Outcome& outcome,
                    Clock::time_point began) {
  const auto& at = state.position;
  RunEnding end;
  end.reason = outcome.reason;
  end.met = outcome.code != Exit::expect;
  end.seconds = std::chrono::duration<double>(Clock::now() - began).count();
  end.step = at.step;
  end.total_steps = seconds_of(t.recipe) ? 0 : t.length.total;
  end.epoch = static_cast<double>(at.epoch) +
              static_cast<double>(at.step_in_epoch) / static_cast<double>(t.length.per_epoch);
  end.evaluated = at.evaluated;
  end.seed = t.recipe.seed;
  end.training_samples = t.data->size(Split::train);
  end.validation_samples = t.data->size(Split::valid);
  end.last = state.evaluation;
  if (const auto watched = watched_metric(t.recipe))
    end.best = best_evaluation(outcome.folder + "/metrics.csv", *watched);
  end.folder = outcome.folder;
  end.earlier = read_run_record(outcome.folder).earlier;
  end.input = some_input(t);
  end.predicts_files = catalog<Dataset>().find(t.recipe.data.type())->has("predicts_files");
  return end;
}

/// A folder that rank 0 made is removed where no run begins in it.
class MadeFolder {
 public:
  MadeFolder(const Job& job, const World& world, std::string folder)
      : start_(job.start), folder_(std::move(folder)), made_(world.rank == 0 && job.make_folder) {}
  ~MadeFolder() {
    if (!made_) return;
    try {
      abandon_run(folder_, start_, static_cast<int>(Exit::data), false);
    } catch (const Error&) {  // whatever ended the start is what is reported
    }
  }
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;
  const std::string& path() const { return folder_; }

 private:
  const RunStart& start_;
  std::string folder_;
  bool made_;
};

/// Of eval.splits and eval.test.
std::vector<NamedData> other_data(const Training& training) {
  std::vector<NamedData> others;
  for (const auto* splits : {&training.splits, &training.test})
    for (const auto& split : *splits) others.emplace_back(split.name, split.data.get());
  return others;
}

// The run folder stays as it was until every rank has built and restored its part. Returns the
// writers of its logs.
Callbacks begin(const Job& job, const Training& training, std::int64_t step,
                const std::string& folder) {
  agree(*training.world, "the step at which training begins", std::to_string(step));
  if (training.world->rank != 0) return {};
  if (job.report_batch) job.report_batch(training.placement.batch);
  // The data or the devices may have told what the recipe left open.
  const auto text = job.record ? job.record(training.recipe) : job.recipe_text;
  if (text != job.recipe_text || job.rewrite_recipe) write_recipe(folder, text);
  if (job.set_aside) set_checkpoints_aside(folder);
  auto launched = job.start;
  launched.threads = training.placement.threads;  // of a small network fewer than it could have
  launched.new_recipe = job.rewrite_recipe;
  begin_run(folder, launched);
  note_data(folder, training.data->digest());
  write_data_file(*training.data, other_data(training), folder);
  return make_writers(training, folder);
}

}  // namespace

void prepare_process(const Recipe& recipe, const Placement& placement) {
  const auto& device = accelerator(placement.device);  // before LibTorch looks for kernels
  at::set_num_threads(placement.threads);
  auto& context = at::globalContext();
  if (recipe.train.deterministic) {
    device.be_deterministic();
    context.setDeterministicAlgorithms(true, false);
    context.setDeterministicCuDNN(true);
  }
  context.setBenchmarkCuDNN(!recipe.train.deterministic);
  const bool tf32 = recipe.train.precision.value == Precision::tf32;
  if (tf32) context.setFloat32MatmulPrecision("high");
  context.setAllowTF32CuDNN(tf32);  // LibTorch's convolutions use it unless told not to
}

World join_world(const Recipe& recipe, const Placement& placement, const Topology& topology) {
  JoinOptions options;
  if (!placement.on_cpu()) {
    options.accelerator = &accelerator(placement.device);
    options.device = static_cast<int>(placement.id(topology.local_rank));
    options.accelerator->select(options.device);  // else libraries use the first one too
  }
  options.statistics = recipe.parallel.sync_bn.value.value_or(false);
  options.start = milliseconds(recipe.parallel.timeout.start);
  options.step = milliseconds(recipe.parallel.timeout.step);
  options.supervised = topology.address.empty() && !topology.store.empty();
  return join(topology, options);
}

namespace {

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

Outcome not_begun(int signal, const std::string& folder) {
  Outcome outcome{Exit::done, signal, "interrupted", folder, {}, {}};
  outcome.begun = false;
  return outcome;
}

RunState start(const Training& training, const std::optional<Checkpoint>& checkpoint,
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
std::unique_ptr<const Training> build_unless_stopped(const TrainingPlan& plan, World& world,
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

Outcome run_in(World& world, Job job, Hooks hooks) {
  const auto began = Clock::now();
  share_start(job, world);
  agree(world, "the program", version() + " with torch " + torch_version());
  agree_on_recipe(world, job.recipe_text);
  const MadeFolder made(job, world, shared_folder(job, world));
  const auto& folder = made.path();
  if (hooks.in_folder) hooks.in_folder(folder);
  if (hooks.beat) hooks.beat(0, "building");  // from here on the step's time-out holds
  if (const int signal = asked_to_stop(world, hooks)) return not_begun(signal, folder);
  std::optional<Checkpoint> checkpoint;
  if (job.checkpoint) checkpoint = with_weights([&] { return load_checkpoint(*job.checkpoint); });
  const auto training = build_unless_stopped(run_plan(job, checkpoint), world, hooks);
  if (!training) return not_begun(hooks.stop_requested().signal, folder);
  auto state = start(*training, checkpoint, folder);
  checkpoint.reset();
  require_rows_for_batch_norm(*training);
  require_space(*training, state.position.step, folder + "/checkpoints");
  if (const int signal = asked_to_stop(world, hooks)) return not_begun(signal, folder);
  auto observers = begin(job, *training, state.position.step, folder);
  for (auto& trace : make_traces(job.traces, *training, state.position.step, folder))
    observers.push_back(std::move(trace));
  hooks.checkpoints = folder + "/checkpoints";
  if (job.pause) hooks.pause_at = in_steps(*job.pause, training->length).value_or(0);
  auto result = train(*training, state, hooks, observers);
  Outcome outcome{Exit::done, result.signal, result.reason, folder, state.evaluation, {}};
  if (result.test)
    for (const auto& value : result.test->found.values) outcome.metrics.push_back(value);
  const bool ended = result.signal == 0 && result.reason != kPaused;
  if (ended && !met(job.recipe, result_metrics(result, outcome), result.weights))
    outcome.code = Exit::expect;
  if (world.rank != 0) return outcome;
  write_samples(*training, result.scored.samples, result.weights, folder);
  outcome.ending = ending_of(*training, state, outcome, began);
  outcome.ending.report = job.recipe.output.report;
  outcome.ending.weights = result.weights;
  outcome.ending.tables = std::move(result.scored.tables);
  outcome.ending.test = std::move(result.test);
  return outcome;
}

/// To cores near its device, where the system knows which those are.
void bind_rank(const Topology& topology, const Placement& placement) {
  const auto usable = usable_cores();
  std::vector<Nearness> near;
  for (int r = 0; !placement.on_cpu() && r < topology.local_world; ++r)
    near.push_back(near_device(bus_address(placement.device, placement.id(r)), usable));
  auto cores = near.empty() ? std::vector<int>() : share_of_near(near, topology.local_rank);
  if (cores.empty()) cores = share_of_cores(usable, topology.local_rank, topology.local_world);
  if (usable.size() > 1 && !near.empty()) {
    const auto node = near[static_cast<std::size_t>(topology.local_rank)].node;
    if (node && !prefer_memory_of(*node))
      log::debug("the system does not let this process prefer the memory of a NUMA node");
  }
  log::debug("rank " + std::to_string(topology.rank) + " runs on cores " + to_text(cores));
  bind_to(cores);
}

}  // namespace

Outcome run_rank(const Job& job, const Topology& topology, const Hooks& hooks) {
  if (job.recipe.parallel.affinity == Affinity::cores) bind_rank(topology, job.placement);
  prepare_process(job.recipe, job.placement);
  return in_world(job.recipe, job.placement, topology,
                  [&](World& world) { return run_in(world, job, hooks); });
}

}  // namespace ddptrain
