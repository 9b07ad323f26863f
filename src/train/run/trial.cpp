#include "train/run/trial.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "data/tokens/token_dataset.h"
#include "distributed/engine.h"
#include "distributed/world.h"
#include "models/stored_state.h"
#include "optim/ema.h"
#include "recipe/eval_splits.h"
#include "sources/sampler.h"
#include "train/build/batch_norm_rows.h"
#include "train/build/block_sizes.h"
#include "train/build/build.h"
#include "train/build/flops.h"
#include "train/build/numerics.h"
#include "train/build/offload.h"
#include "train/build/splits.h"
#include "train/run/pass_memory.h"
#include "train/run/rank.h"
#include "train/stages.h"
#include "train/training.h"
#include "train/transfer/initial_weights.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kRows = 2;  // a batch norm cannot do with one

/// The recipe as one process trains it on the CPU, `rows` samples a step.
Recipe for_one_cpu(Recipe recipe, std::int64_t rows) {
  recipe.parallel = ParallelSpec{};
  recipe.parallel.device = DeviceKind::cpu;
  recipe.batch = BatchSpec{};
  recipe.batch.global = rows;
  drop_splits(recipe);
  return recipe;
}

struct Built {
  World world;
  std::unique_ptr<Training> training;
};

/// How the run itself cuts an epoch.
ShardPlan own_shards(const Recipe& recipe, const BatchPlan& batch) {
  const auto loader = decode<DataSection>(recipe.data.node()).loader;
  const auto world = has_ranks(recipe.parallel.mode) ? batch.devices : 1;
  return shard_plan(loader, {batch.global, batch.accumulate, world});
}

std::unique_ptr<Built> build_on_cpu(const Recipe& recipe, const BatchPlan& batch) {
  const auto local = for_one_cpu(recipe, kRows);
  const auto placement = place(local, Topology{});
  prepare_process(local, placement);
  auto built = std::make_unique<Built>();
  built->world = join_world(local, placement, Topology{});
  TrainingPlan plan{resolved(local, placement), placement};
  plan.shards = own_shards(recipe, batch);
  built->training = build(plan, built->world);
  return built;
}

/// Of samples that are at most `longest` long; 0: they have no length.
Batch empty_batch(const Training& t, std::int64_t rows, std::int64_t longest) {
  return longest > 0 ? t.data->allocate_length(Split::train, rows, longest)
                     : t.data->allocate_train(0, rows);
}

/// The first samples of an epoch that can be read, kRows at most: where the recipe skips bad ones,
/// so does a run.
std::vector<std::int64_t> first_samples(const Training& t) {
  std::vector<std::int64_t> found;
  Draw draw;
  draw.seed = seed_of_data(t.recipe);
  for (const auto sample : t.sampler->order(0)) {
    auto batch = empty_batch(t, 1, t.data->length(Split::train, sample));
    if (t.data->load(Split::train, sample, draw, batch, 0)) found.push_back(sample);
    if (std::ssize(found) == kRows) return found;
  }
  if (found.empty()) throw Error(Exit::data, "no training sample can be read");
  return found;
}

/// The first samples of an epoch, again and again where there are fewer.
Batch first_rows(const Training& t, std::int64_t rows) {
  const auto samples = first_samples(t);
  std::int64_t longest = 0;
  const auto sample = [&](std::int64_t row) {
    return samples[static_cast<std::size_t>(row) % samples.size()];
  };
  for (std::int64_t row = 0; row < rows; ++row)
    longest = std::max(longest, t.data->length(Split::train, sample(row)));
  auto batch = empty_batch(t, rows, longest);
  Draw draw;
  draw.seed = seed_of_data(t.recipe);
  for (std::int64_t row = 0; row < rows; ++row) {
    draw.position = row;
    t.data->load(Split::train, sample(row), draw, batch, row);
    batch.indices.push_back(sample(row));
  }
  batch.rows = rows;
  return batch;
}

std::int64_t bytes_of(const std::vector<NamedTensor>& tensors) {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : tensors) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

std::vector<Block> blocks_of(const Model& model) {
  std::vector<Block> blocks;
  for (const auto& [name, tensor] : model.named_parameters()) {
    const auto block = name.substr(0, name.find('.'));
    if (blocks.empty() || blocks.back().name != block) blocks.push_back({block, 0});
    blocks.back().parameters += tensor.numel();
  }
  return blocks;
}

/// The stage in which most of the network trains, and which therefore needs the most memory.
const TrainingStage& widest_stage(const Training& t) {
  return *std::min_element(t.stages.begin(), t.stages.end(), [](const auto& a, const auto& b) {
    return a.frozen.parameters.size() < b.frozen.parameters.size();
  });
}

bool is_frozen(const TrainingStage& stage, const std::string& name) {
  const auto& frozen = stage.frozen.parameters;
  return std::find(frozen.begin(), frozen.end(), name) != frozen.end();
}

void count_parameters(const Training& t, ModelFacts& facts) {
  for (const auto& [name, tensor] : t.engine->model().named_parameters()) {
    facts.parameters += tensor.numel();
    if (!is_frozen(t.stages.front(), name)) facts.training += tensor.numel();
    if (!is_frozen(widest_stage(t), name))
      facts.gradient_bytes += static_cast<std::int64_t>(tensor.nbytes());
  }
  const auto sizes = block_sizes(t.engine->model());
  facts.root = sizes.root;
  facts.largest = sizes.largest;
  if (travelling_type(numerics(t.recipe))) facts.cast = sizes.cast;
}

std::vector<std::vector<std::int64_t>> shapes_of(const std::vector<at::Tensor>& tensors) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (const auto& tensor : tensors) shapes.push_back(tensor.sizes().vec());
  return shapes;
}

/// Of a forward pass: the model's, and those of scores that it leaves to the loss. A multiply-add
/// counts as two.
std::int64_t flops_of(Training& t, const Batch& batch, Trial& trial) {
  const FlopCounter counter;
  trial.output = t.engine->evaluate(batch).sizes().vec();
  const auto projection = t.engine->model().projection();
  const auto scores = projection ? batch.targets.at(0).numel() * projection.weight.numel() : 0;
  return counter.count() + 2 * scores;
}

/// What the optimizer's steps hold beyond gradients, weights and its state.
std::int64_t bytes_of_update(Training& t) {
  t.optimizer->step({t.optimizer->lr()});  // makes its state
  const HeldBytes held;
  t.optimizer->step({t.optimizer->lr()});
  return held.most();
}

/// Whether a device's gradients are there before a micro-batch's backward pass.
Gradients gradients_of(const Recipe& recipe, const BatchPlan& batch) {
  const bool buckets = has_ranks(recipe.parallel.mode) && batch.devices > 1;
  return buckets || batch.accumulate > 1 ? Gradients::added : Gradients::made;
}

/// Bytes of the state of the parameter that has the most.
std::int64_t largest_state(const std::vector<NamedTensor>& state) {
  std::map<std::string, std::int64_t> bytes;
  for (const auto& [name, tensor] : state)
    bytes[name.substr(0, name.rfind('.'))] += static_cast<std::int64_t>(tensor.nbytes());
  std::int64_t largest = 0;
  for (const auto& [parameter, own] : bytes) largest = std::max(largest, own);
  return largest;
}

/// Fills what `facts` has of sizes and of a step of `batch`. Returns the totals of a pass.
StepTotals measure(Training& t, const BatchPlan& batch, Gradients gradients, ModelFacts& facts) {
  const auto few = measure_pass(t, first_rows(t, kRows), gradients);
  const auto many = measure_pass(t, first_rows(t, 2 * kRows), gradients);
  const auto pass = bytes_of_pass(t, few, many, batch.micro);
  const auto update = facts.gradient_bytes + bytes_of_update(t);
  facts.weight_bytes = bytes_of(without_aliases(t.engine->model().state()));
  facts.optimizer_bytes = bytes_of(t.optimizer->state());
  if (looks_at_whole_parameters(t.recipe.optimizer))
    facts.whole_state = largest_state(t.optimizer->state());
  if (t.ema) facts.average_bytes = bytes_of(t.ema->parameters()) + bytes_of(t.ema->buffers());
  facts.activation_bytes = std::max<std::int64_t>(0, many.kept - few.kept) / kRows;
  facts.step = {pass.activations, pass.logits,
                facts.weight_bytes + facts.optimizer_bytes + facts.average_bytes +
                    std::max(pass.most, update)};
  return many.totals;
}

std::unique_ptr<Built> begun(const Recipe& recipe, const BatchPlan& batch) {
  auto built = build_on_cpu(recipe, batch);
  auto& t = *built->training;
  start_from_weights(t);
  t.engine->freeze(widest_stage(t).frozen);
  return built;
}

}  // namespace

Trial try_model(const Recipe& recipe, const BatchPlan& batch) {
  const auto built = begun(recipe, batch);
  auto& t = *built->training;
  const auto rows = first_rows(t, kRows);
  Trial trial;
  trial.inputs = shapes_of(rows.inputs);
  trial.targets = shapes_of(rows.targets);
  trial.facts.flops = flops_of(t, rows, trial) / kRows;
  auto& facts = trial.facts;
  facts.blocks = blocks_of(t.engine->model());
  count_parameters(t, facts);
  const auto totals = measure(t, batch, gradients_of(recipe, batch), facts);
  trial.loss = totals.loss_sum / totals.weight;
  return trial;
}

Trial try_model(const Recipe& recipe) {
  return try_model(recipe, plan_batch(recipe.batch, written_devices(recipe.parallel).value_or(1)));
}

StepMemory step_memory(const Recipe& recipe, const BatchPlan& batch) {
  const auto built = begun(recipe, batch);
  ModelFacts facts;
  count_parameters(*built->training, facts);
  measure(*built->training, batch, gradients_of(recipe, batch), facts);
  return facts.step;
}

void check_batches(const Recipe& recipe, const BatchPlan& batch, std::int64_t samples) {
  const auto mode = recipe.parallel.mode;
  const auto plan = own_shards(recipe, batch);
  const StatisticsCut cut{has_replicas(mode) ? batch.devices : 1,
                          recipe.parallel.sync_bn.value.value_or(batch.devices > 1)};
  if (fewest_rows(samples, plan, cut) != 1) return;
  const auto built = build_on_cpu(recipe, batch);
  require_rows_for_batch_norm(*built->training, plan, cut);
}

DataSize data_size(const Recipe& recipe) {
  const auto devices = written_devices(recipe.parallel).value_or(1);
  const auto local = for_one_cpu(recipe, plan_batch(recipe.batch, devices).global);
  const auto data = build_data(local);
  const auto sampler = build_sampler(recipe, *data);
  DataSize size{static_cast<std::int64_t>(sampler->order(0).size()), data->size(Split::valid)};
  if (const auto* tokens = dynamic_cast<const HasTokens*>(data.get()))
    size.tokens = tokens->token_size(Split::train);
  for (auto& section : split_sections(recipe)) {
    const auto split = build_split(local, *data, section, {});
    size.splits.emplace_back(section.name, split->size(Split::valid));
  }
  return size;
}

std::int64_t steps_per_epoch(const Recipe& recipe, const BatchPlan& batch, std::int64_t samples) {
  return std::ssize(shard(samples, own_shards(recipe, batch), 0));
}

}  // namespace ddptrain
