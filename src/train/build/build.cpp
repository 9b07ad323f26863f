#include "train/build/build.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numeric>

#include "accelerator/accelerator.h"
#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "callbacks/callback.h"
#include "config/catalog.h"
#include "data/dataset.h"
#include "data/loader/loader.h"
#include "data/loader/prefetcher.h"
#include "data/mix.h"
#include "data/unknown.h"
#include "distributed/engine.h"
#include "distributed/world.h"
#include "optim/clip.h"
#include "optim/ema.h"
#include "optim/groups.h"
#include "optim/state_stream.h"
#include "recipe/model_section.h"
#include "recipe/optimizer_options.h"
#include "sources/classes.h"
#include "sources/sampler.h"
#include "train/build/chosen_mode.h"
#include "train/build/flops.h"
#include "train/build/image_device.h"
#include "train/build/micro_batch.h"
#include "train/build/numerics.h"
#include "train/build/offload.h"
#include "train/build/scores.h"
#include "train/build/shapes.h"
#include "train/build/splits.h"
#include "train/stages.h"
#include "train/step/swa.h"
#include "train/training.h"
#include "train/update/sharded_optimizer.h"

namespace ddptrain {
namespace {

/// Operations of a micro-batch's forward pass below which one thread computes: a parallel region
/// costs some ten microseconds, in which a core makes a million operations, and a step has dozens.
constexpr double kLeastParallelFlops = 2e7;

/// Compute threads of a rank: as placed, but one under `train.threads: auto` on the CPU for work
/// below kLeastParallelFlops. Only arithmetic decides, so that all ranks and every repetition
/// choose the same.
int worthwhile_threads(Training& t) {
  const auto placed = t.placement.threads;
  if (!t.placement.find_threads || placed == 1) return placed;
  const at::NoGradGuard no_grad;
  const FlopCounter counter;
  t.engine->evaluate(largest_batch(*t.data, 1));
  const auto flops = static_cast<double>(counter.count() * t.placement.batch.micro);
  if (flops == 0 || flops >= kLeastParallelFlops) return placed;  // 0: no operation it counts
  return 1;
}

at::Device device_of(const Placement& placement, std::int64_t id) {
  return {accelerator(placement.device).type(), static_cast<at::DeviceIndex>(id)};
}

/// Of this rank's replicas, the master's first.
std::vector<at::Device> devices_of(const Placement& placement, const World& world) {
  if (placement.replicas == 1) return {device_of(placement, placement.id(world.local_rank))};
  std::vector<at::Device> devices;
  for (const auto id : placement.ids) devices.push_back(device_of(placement, id));
  return devices;
}

std::optional<PowerSgdOptions> power_sgd(const Recipe& recipe, const RunLength& length) {
  const auto& spec = recipe.parallel.ddp.comm.power_sgd;
  if (!spec) return {};
  return PowerSgdOptions{spec->rank,
                         in_steps(spec->start, length).value_or(0),
                         spec->min_compression_rate,
                         spec->error_feedback,
                         spec->warm_start,
                         spec->orthogonalization_epsilon,
                         static_cast<std::uint64_t>(recipe.seed)};
}

EngineOptions engine_options(const Recipe& recipe, const Placement& placement, int local_rank) {
  EngineOptions options;
  options.numerics = numerics(recipe);
  if (!placement.on_cpu()) options.device = device_of(placement, placement.id(local_rank));
  options.replicas = placement.replicas;
  options.device_ids = placement.ids;
  options.sync_bn = recipe.parallel.sync_bn.value.value_or(false);
  options.recompute = recipe.train.recompute == Recompute::blocks;
  const auto& ddp = recipe.parallel.ddp;
  options.bucket_bytes = ddp.bucket_cap_mb.bytes;
  options.find_unused_parameters = ddp.find_unused_parameters;
  options.static_graph = ddp.static_graph;
  options.gradient_as_bucket_view = ddp.gradient_as_bucket_view;
  options.broadcast_buffers = ddp.broadcast_buffers;
  options.reduces_last = recipe.parallel.shard.reduce == ShardReduce::last;
  options.whole_tensors = looks_at_whole_parameters(recipe.optimizer);
  if (ddp.comm.dtype)
    options.wire_type = ddp.comm.dtype == CommType::bf16 ? at::kBFloat16 : at::kHalf;
  return options;
}

// Every replica starts a generator of its own at the run's seed: equal weights without a copy.
ModelFactory model_factory(const Recipe& recipe, const DataFacts& facts) {
  return [choice = recipe.model, seed = recipe.seed, facts] {
    ModelContext context;
    context.data = facts;
    context.generator = at::make_generator<at::CPUGeneratorImpl>(static_cast<std::uint64_t>(seed));
    return catalog<Model>().build(choice, context);
  };
}

/// Makes the loaders of a run's splits.
class LoaderFactory {
 public:
  LoaderFactory(const Recipe& recipe, const Placement& placement, const World& world)
      : spec_(decode<DataSection>(recipe.data.node()).loader),
        seed_(seed_of_data(recipe)),
        placement_(placement),
        world_(world) {}

  /// `mix`, of training samples, outlives the loader; null: none.
  std::unique_ptr<Loader> make(const Dataset& data, Split split, const Mix* mix = nullptr) const {
    LoaderOptions options;
    options.split = split;
    options.workers = static_cast<int>(spec_.workers.value.value_or(workers_for(data)));
    options.prefetch = static_cast<int>(spec_.prefetch);
    options.seed = seed_;
    options.mix = mix;
    return build_loader(data, options, placement_, world_);
  }

 private:
  /// A device, which computes meanwhile, is kept busy by another thread.
  std::int64_t workers_for(const Dataset& data) const {
    return placement_.on_cpu() && data.loads_from_memory() ? 0 : placement_.threads;
  }

  LoaderSpec spec_;
  std::int64_t seed_;
  const Placement& placement_;
  const World& world_;
};

/// Streams of training tokens that are scored have the rows of an evaluation.
Recipe as_scored(Recipe recipe, Scored scored) {
  if (scored != Scored::valid && recipe.eval.batch.value)
    recipe.batch.global = recipe.eval.batch.value;
  return recipe;
}

void check_scored(const DataFacts& facts, Scored scored) {
  if (scored == Scored::all && facts.tokens && facts.tokens->streams)
    throw Error(Exit::recipe,
                "the streams of a split do not continue those of another; score 'train' and "
                "'valid' one by one, or write 'data.blocks: shuffled'");
}

/// The run's data on all ranks; the recipe learns what they decided.
std::unique_ptr<Dataset> build_run_data(const TrainingPlan& plan, World& world, Recipe& recipe) {
  auto data = with_scored(
      build_data(as_scored(recipe, plan.scored), plan.saved, {}, image_device(plan, world)),
      plan.scored);
  check_scored(data->facts(), plan.scored);
  take_chosen(recipe.data, *data);
  agree(world, "the data", data->digest());
  const auto& facts = data->facts();
  if (facts.class_count() == 1 && world.rank == 0) log::warning(one_class_text(facts.classes[0]));
  return data;
}

void report_split(const Dataset& split, const SplitSection& section, const Dataset& data,
                  const Recipe& recipe) {
  const auto trained = trained_text(split, section, data, recipe.data);
  if (!trained.empty()) log::warning("{}: {}", section.path, trained);
  for (const auto& unknown : unknown_values(split, Split::valid))
    log::info("{}: {}", section.path, to_text(unknown));
}

/// What is scored next to the validation split.
struct Splits {
  std::vector<ScoredSplit> evaluated;  // at each evaluation
  std::vector<ScoredSplit> test;       // at the end: one or none
};

/// The recipe learns what their data decided; `plan` has it as it was written.
Splits build_splits(const TrainingPlan& plan, World& world, Recipe& recipe, const Dataset& data,
                    const LoaderFactory& loaders) {
  Splits splits;
  for (auto& section : split_sections(recipe)) {
    auto split = build_split(plan.recipe, data, section, {.takes_bytes = !plan.placement.on_cpu()});
    set_split(recipe, section);
    agree(world, "the data of " + section.path, split->digest());
    if (world.rank == 0) report_split(*split, section, data, recipe);
    auto loader = loaders.make(*split, Split::valid);
    (section.name == kTestSplit ? splits.test : splits.evaluated)
        .push_back({section.name, std::move(split), std::move(loader)});
  }
  return splits;
}

RunLength run_length(const Recipe& recipe, const Sampler& sampler, const ShardPlan& shards,
                     int rank) {
  RunLength length;
  length.global = shards.global;
  const auto samples = static_cast<std::int64_t>(sampler.order(0).size());
  length.per_epoch = static_cast<std::int64_t>(shard(samples, shards, rank).size());
  require_full_batch(length.per_epoch, samples, length.global);
  const auto steps = stage_steps(recipe, length);
  length.total = std::accumulate(steps.begin(), steps.end(), std::int64_t{0});
  return length;
}

/// Every layer group goes at the rate that is tried.
void go_at(const LrFindOptions& rates, TrainingStage& stage) {
  stage.schedule = lr_finder_schedule(rates);
  stage.run.reset();
  stage.shares.clear();
}

/// What an epoch of training takes.
struct Epochs {
  std::unique_ptr<Sampler> sampler;
  std::unique_ptr<Mix> mix;  // may be null
  std::unique_ptr<Loader> loader;
  RunLength length;
};

Epochs build_epochs(const TrainingPlan& plan, const World& world, const Dataset& data,
                    const LoaderFactory& loaders) {
  const auto section = decode<DataSection>(plan.recipe.data.node());
  const auto& batch = plan.placement.batch;
  const auto shards = plan.shards.value_or(
      shard_plan(section.loader, {batch.global, batch.accumulate, world.size}));
  Epochs epochs;
  epochs.sampler = build_sampler(plan.recipe, data);
  epochs.length = run_length(plan.recipe, *epochs.sampler, shards, world.rank);
  if (section.mix) epochs.mix = catalog<Mix>().build(*section.mix);
  epochs.loader = loaders.make(data, Split::train, epochs.mix.get());
  return epochs;
}

/// What moves the weights.
struct Optimization {
  std::unique_ptr<StateStream> state_stream;  // may be null
  std::unique_ptr<Optimizer> optimizer;
  std::vector<TrainingStage> stages;
  std::unique_ptr<Clip> clip;  // may be null
};

std::unique_ptr<Optimizer> build_optimizer(const Recipe& recipe, Engine& engine,
                                           std::vector<ParameterGroup> groups) {
  const auto build = [&](std::vector<ParameterGroup> parameters) {
    return catalog<Optimizer>().build(recipe.optimizer, std::move(parameters));
  };
  const auto* shards = engine.shards();
  if (shards) return make_sharded_optimizer(*shards, std::move(groups), build);
  auto optimizer = build(std::move(groups));
  optimizer->share(shared_gradients(recipe, engine));
  return optimizer;
}

Optimization build_optimization(const TrainingPlan& plan, const Recipe& recipe, Engine& engine,
                                const RunLength& length) {
  auto& model = engine.model();
  const auto common = common_options(recipe.optimizer);
  const auto groups = layer_groups(model, decode<ModelSection>(recipe.model.node()).layer_groups);
  Optimization made;
  made.optimizer =
      build_optimizer(recipe, engine, group_parameters(model, common.no_decay, groups));
  made.state_stream = offload(recipe, plan.placement, engine, *made.optimizer);
  made.stages = build_stages({recipe, length, *made.optimizer, model}, groups);
  if (plan.lr_finder) go_at(*plan.lr_finder, made.stages.front());
  if (recipe.train.clip) made.clip = catalog<Clip>().build(*recipe.train.clip);
  if (made.clip) made.clip->share(shared_gradients(recipe, engine));
  require_an_average(recipe, length);
  return made;
}

Callbacks build_callbacks(const Recipe& recipe) {
  Callbacks made;
  for (const auto& choice : recipe.callbacks) made.push_back(catalog<Callback>().build(choice));
  return made;
}

/// What trials decide where the recipe leaves it open becomes part of the run's recipe.
void decide_sizes(Training& t, const std::function<void()>& alive) {
  t.placement.threads = worthwhile_threads(t);
  at::set_num_threads(t.placement.threads);
  t.placement.batch = fitting_batch(t, alive);
  t.recipe = resolved(std::move(t.recipe), t.placement);
}

}  // namespace

ShardPlan shard_plan(const Training& t) {
  const auto& batch = t.placement.batch;
  return shard_plan(t.section.loader, {batch.global, batch.accumulate, t.world->size});
}

std::unique_ptr<Loader> build_loader(const Dataset& data, LoaderOptions options,
                                     const Placement& placement, const World& world) {
  if (placement.on_cpu()) return make_loader(data, options);
  options.pinned = true;
  auto devices = devices_of(placement, world);
  if (options.split == Split::valid) devices.erase(devices.begin() + 1, devices.end());
  return make_prefetcher(make_loader(data, options), devices);
}

std::unique_ptr<Engine> build_engine(const Recipe& recipe, const Placement& placement, World& world,
                                     const DataFacts& facts, const RunLength& length) {
  auto options = engine_options(recipe, placement, world.local_rank);
  options.power_sgd = power_sgd(recipe, length);
  const auto factory = model_factory(recipe, facts);
  return make_engine(recipe.parallel.mode, factory, options, world);
}

namespace {

/// Tries a training step and the scores, and decides what is `auto` until then.
void try_out(Training& t, const TrainingPlan& plan, const std::function<void()>& alive) {
  if (plan.trains) try_shapes(t);
  try_scores(t);
  if (plan.tries_sizes) decide_sizes(t, alive);
  if (plan.most_steps) t.length.total = std::min(t.length.total, *plan.most_steps);
}

void take_epochs(Training& t, Epochs epochs) {
  t.sampler = std::move(epochs.sampler);
  t.mix = std::move(epochs.mix);
  t.loader = std::move(epochs.loader);
  t.length = epochs.length;
}

void take_optimization(Training& t, Optimization optimization) {
  t.state_stream = std::move(optimization.state_stream);
  t.optimizer = std::move(optimization.optimizer);
  t.stages = std::move(optimization.stages);
  t.clip = std::move(optimization.clip);
}

}  // namespace

std::unique_ptr<Training> build(const TrainingPlan& plan, World& world,
                                const std::function<void()>& alive) {
  auto built = std::make_unique<Training>();
  auto& t = *built;
  t.placement = plan.placement;
  t.world = &world;
  t.evaluation_batches = plan.evaluation_batches;
  auto recipe = plan.recipe;
  t.data = build_run_data(plan, world, recipe);
  const LoaderFactory loaders(recipe, plan.placement, world);
  if (plan.trains) take_epochs(t, build_epochs(plan, world, *t.data, loaders));
  t.valid_loader = loaders.make(*t.data, Split::valid);
  auto splits = build_splits(plan, world, recipe, *t.data, loaders);
  t.splits = std::move(splits.evaluated);
  t.test = std::move(splits.test);
  auto scores = build_scores(recipe, *t.data);
  t.loss = std::move(scores.loss);
  t.metrics = std::move(scores.metrics);
  const auto& facts = t.data->facts();
  build_engine_that_fits(t, recipe,
                         {model_factory(recipe, facts),
                          [&](const Recipe& chosen) {
                            return build_engine(chosen, plan.placement, world, facts, t.length);
                          }},
                         alive);
  if (plan.trains) take_optimization(t, build_optimization(plan, recipe, *t.engine, t.length));
  if (plan.trains) t.callbacks = build_callbacks(recipe);
  t.ema = build_average(recipe, *t.engine);
  t.section = decode<DataSection>(plan.recipe.data.node());
  t.recipe = std::move(recipe);
  try_out(t, plan, alive);
  return built;
}

}  // namespace ddptrain
