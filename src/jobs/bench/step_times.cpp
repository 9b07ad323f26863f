#include "jobs/bench/step_times.h"

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "callbacks/count_line.h"
#include "data/loader/loader.h"
#include "distributed/engine.h"
#include "models/model.h"
#include "recipe/data_section.h"
#include "train/build/build.h"
#include "train/build/flops.h"
#include "train/build/traffic.h"
#include "train/loop/epoch.h"
#include "train/loop/loop.h"
#include "train/loop/state.h"
#include "train/run/rank.h"
#include "train/training.h"
#include "train/transfer/initial_weights.h"

namespace ddptrain {
namespace {

using PhaseTimes = std::array<double, kPhases + 1>;

/// Seconds of a device in each phase: an event in its stream at each beginning and end. Waiting for
/// the host counts for the phase in which the host is.
class DevicePhaseClock final : public PhaseWatcher {
 public:
  explicit DevicePhaseClock(c10::Device device) : device_(device) { mark(); }
  void begin(Phase phase) override {
    mark();
    under_way_.push_back(static_cast<std::size_t>(phase));
  }
  void end(Phase) override {
    mark();
    under_way_.pop_back();
  }

  /// Waits for the device.
  PhaseTimes seconds() {
    mark();
    marks_.back().event.synchronize();
    for (const auto& mark : marks_)
      while (!mark.event.query()) std::this_thread::yield();
    PhaseTimes seconds{};
    for (std::size_t i = 0; i + 1 < marks_.size(); ++i)
      seconds[marks_[i + 1].phase] += marks_[i].event.elapsedTime(marks_[i + 1].event) / 1000;
    return seconds;
  }

 private:
  struct Mark {
    std::size_t phase;  // that it ends
    c10::Event event;
  };

  void mark() {
    marks_.push_back({under_way_.empty() ? kPhases : under_way_.back(),
                      c10::Event(device_.type(), c10::EventFlag::BACKEND_DEFAULT)});
    marks_.back().event.record(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
  }

  c10::Device device_;
  std::vector<Mark> marks_;
  std::vector<std::size_t> under_way_;  // the innermost last
};

/// Counts the work of the first two steps, warms up, then takes the time.
class StepWatch final : public Callback {
 public:
  StepWatch(const BenchOptions& options, c10::Device device) : options_(options), device_(device) {}

  void at(Moment moment, const RunView& run, RunControl&) override {
    if (moment == Moment::run_begin) flops_.emplace();
    if (moment != Moment::step_end) return;
    steps_ = run.step;
    line_.show(steps_, options_.warm_up + options_.steps);
    if (steps_ == 1) {
      flops = static_cast<double>(flops_->count());
      flops_.reset();
      traffic_.emplace();
    } else if (steps_ == 2) {
      bytes = static_cast<double>(traffic_->bytes());
      traffic_.reset();
    }
    if (steps_ == options_.warm_up) start();
    if (steps_ == options_.warm_up + options_.steps) stop();
  }

  /// Work is counted step by step.
  bool steers_each_step() const override { return steps_ < 2; }

  double flops = 0;
  double bytes = 0;
  double step = 0;  // seconds
  PhaseTimes phases{};

 private:
  void start() {
    if (device_.is_cpu())
      host_.emplace();
    else
      on_device_.emplace(device_);
    watch_.restart();
  }

  void stop() {
    const auto count = static_cast<double>(options_.steps);
    step = watch_.seconds() / count;
    phases = host_ ? host_->seconds() : on_device_->seconds();
    for (auto& seconds : phases) seconds /= count;
    if (host_) step = std::accumulate(phases.begin(), phases.end(), 0.0);
    host_.reset();
    on_device_.reset();
  }

  BenchOptions options_;
  c10::Device device_;
  CountLine line_{"measuring, step", "steps"};
  std::int64_t steps_ = 0;
  std::optional<FlopCounter> flops_;
  std::optional<TrafficCounter> traffic_;
  std::optional<PhaseClock> host_;
  std::optional<DevicePhaseClock> on_device_;
  Stopwatch watch_;
};

c10::Device device_of(const Training& t) {
  return t.engine->model().named_parameters().front().tensor.device();
}

/// Seconds a step of batches that are loaded and not computed on.
double time_loader(Training& t, std::int64_t steps) {
  constexpr std::int64_t warm_up = 2;
  Position at;
  auto epoch = start_epoch(t, at);
  Stopwatch watch;
  CountLine line("reading, step", "steps");
  for (std::int64_t step = 0; step < warm_up + steps; ++step) {
    line.show(step, warm_up + steps);
    if (step == warm_up) watch.restart();
    if (step > 0 && at.step_in_epoch == 0) epoch = start_epoch(t, at);
    for (auto left = epoch.micro_steps.at(static_cast<std::size_t>(at.step_in_epoch)); left > 0;
         --left)
      t.loader->next();
    move_on(at, t.length.per_epoch);
  }
  return watch.seconds() / static_cast<double>(steps);
}

c10::ScalarType arithmetic(const Recipe& recipe) {
  switch (recipe.train.precision.value.value_or(Precision::fp32)) {
    case Precision::fp64:
      return c10::kDouble;
    case Precision::bf16:
      return c10::kBFloat16;
    case Precision::fp16:
      return c10::kHalf;
    default:
      return c10::kFloat;
  }
}

bool has_convolutions(const Recipe& recipe) {
  const auto* model = catalog<Model>().find(recipe.model.type());
  return model && model->has("convolves");
}

void describe_setting(const Training& t, StepTimes& times) {
  const auto& placed = t.placement;
  const auto& recipe = t.recipe;
  times.devices = placed.devices();
  times.ranks = placed.ranks;
  times.on_cpu = placed.on_cpu();
  times.has_bf16 = placed.traits.has_bf16;
  const auto precision = recipe.train.precision.value.value_or(Precision::fp32);
  times.arithmetic = names(precision)[static_cast<std::size_t>(precision)];
  times.threads = placed.threads;
  times.workers =
      static_cast<int>(t.section.loader.workers.value.value_or(static_cast<int>(placed.threads)));
  times.cores = static_cast<int>(std::thread::hardware_concurrency());
  times.global = placed.batch.global;
  times.micro = placed.batch.micro;
  times.accumulate = placed.batch.accumulate;
  times.convolves = has_convolutions(recipe);
  times.channels_last = recipe.train.channels_last.value.value_or(false);
  times.rounds_gradients = recipe.parallel.ddp.comm.dtype.has_value();
  const auto* decode = recipe.data.node().find("decode");
  times.decodes_exactly = decode && decode->text == "exact";
}

TrainingPlan bench_plan(const Job& job, const BenchOptions& options) {
  TrainingPlan plan{job.recipe, job.placement};
  auto& train = plan.recipe.train;
  if (train.stages.empty() && !train.fine_tune)
    train.duration = steps(options.warm_up + options.steps + 1);
  plan.recipe.output.report = false;
  plan.evaluation_batches = 1;
  plan.tries_sizes = true;
  return plan;
}

/// Trains the steps; the signal that ended it.
int train_steps(Training& t, const BenchOptions& options, Hooks hooks, StepTimes& times) {
  Callbacks observers;
  observers.push_back(std::make_unique<StepWatch>(options, device_of(t)));
  auto& watch = static_cast<StepWatch&>(*observers.front());
  hooks.evaluate = false;
  hooks.checkpoints.clear();
  hooks.pause_at = options.warm_up + options.steps;
  auto state = first_state(t);
  const auto result = train(t, state, hooks, observers);
  if (result.signal != 0) return result.signal;
  if (watch.step == 0)
    throw Error(Exit::recipe,
                "the run ended after {} steps, before all were measured; ask for fewer with "
                "--steps, or for a longer train.duration",
                state.position.step);
  times.step = watch.step;
  times.phases = watch.phases;
  times.flops = watch.flops;
  times.bytes = watch.bytes;
  return 0;
}

int measure_in(World& world, const Job& job, const BenchOptions& options, const Hooks& hooks,
               StepTimes& times) {
  agree(world, "the recipe", job.recipe_text);
  if (hooks.beat) hooks.beat(0, "building");
  const auto training = build(bench_plan(job, options), world);
  start_from_weights(*training);
  describe_setting(*training, times);
  world.control->barrier();
  times.limits = measure_limits(device_of(*training), arithmetic(training->recipe));
  world.control->barrier();
  times.loader_alone = time_loader(*training, options.steps);
  world.control->barrier();
  return train_steps(*training, options, hooks, times);
}

/// On a device: the parts of a step that no graph hides. `times` keeps that of the whole.
int measure_parts_in(World& world, const Job& job, const BenchOptions& options, const Hooks& hooks,
                     StepTimes& times) {
  auto plan = bench_plan(job, options);
  plan.recipe.train.graph = false;
  const auto training = build(plan, world);
  auto eager = times;
  const int signal = train_steps(*training, options, hooks, eager);
  times.phases = eager.phases;
  times.flops = eager.flops;
  times.bytes = eager.bytes;
  return signal;
}

}  // namespace

double StepTimes::sum() const { return std::accumulate(phases.begin(), phases.end(), 0.0); }

int measure_rank(const Job& job, const BenchOptions& options, const Topology& topology,
                 const Hooks& hooks, StepTimes& times) {
  prepare_process(job.recipe, job.placement);
  return in_world(job.recipe, job.placement, topology, [&](World& world) {
    int signal = measure_in(world, job, options, hooks, times);
    if (signal == 0 && !times.on_cpu) signal = measure_parts_in(world, job, options, hooks, times);
    return signal == 0 ? 0 : 128 + signal;
  });
}

std::string to_json(const StepTimes& t) {
  return json_text(Json{{"devices", t.devices},
                        {"ranks", t.ranks},
                        {"on_cpu", t.on_cpu},
                        {"arithmetic", t.arithmetic},
                        {"threads", t.threads},
                        {"workers", t.workers},
                        {"cores", t.cores},
                        {"global", t.global},
                        {"micro", t.micro},
                        {"accumulate", t.accumulate},
                        {"convolves", t.convolves},
                        {"channels_last", t.channels_last},
                        {"rounds_gradients", t.rounds_gradients},
                        {"has_bf16", t.has_bf16},
                        {"decodes_exactly", t.decodes_exactly},
                        {"loader_alone", t.loader_alone},
                        {"step", t.step},
                        {"phases", t.phases},
                        {"flops", t.flops},
                        {"bytes", t.bytes},
                        {"limit_flops", t.limits.flops},
                        {"limit_bytes", t.limits.bytes}});
}

StepTimes step_times_from(const std::string& text) {
  const auto json = parse_json(text);
  StepTimes t;
  json.at("devices").get_to(t.devices);
  json.at("ranks").get_to(t.ranks);
  json.at("on_cpu").get_to(t.on_cpu);
  json.at("arithmetic").get_to(t.arithmetic);
  json.at("threads").get_to(t.threads);
  json.at("workers").get_to(t.workers);
  json.at("cores").get_to(t.cores);
  json.at("global").get_to(t.global);
  json.at("micro").get_to(t.micro);
  json.at("accumulate").get_to(t.accumulate);
  json.at("convolves").get_to(t.convolves);
  json.at("channels_last").get_to(t.channels_last);
  json.at("rounds_gradients").get_to(t.rounds_gradients);
  json.at("has_bf16").get_to(t.has_bf16);
  json.at("decodes_exactly").get_to(t.decodes_exactly);
  json.at("loader_alone").get_to(t.loader_alone);
  json.at("step").get_to(t.step);
  json.at("phases").get_to(t.phases);
  json.at("flops").get_to(t.flops);
  json.at("bytes").get_to(t.bytes);
  json.at("limit_flops").get_to(t.limits.flops);
  json.at("limit_bytes").get_to(t.limits.bytes);
  return t;
}

}  // namespace ddptrain
