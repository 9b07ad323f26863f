// A whole run in memory: a small network with dropout on samples that are drawn from their
// index, some of them bad.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "optim/groups.h"
#include "support/node.h"
#include "support/ranks.h"
#include "support/training_parts.h"
#include "train/loop/loop.h"
#include "train/loop/state.h"

namespace ddptrain::test {

/// Sample i: five normal draws, and the label i % 3.
class DrawnSamples : public Dataset {
 public:
  DrawnSamples(std::int64_t size, std::set<std::int64_t> bad) : size_(size), bad_(std::move(bad)) {}

  const DataFacts& facts() const override { return facts_; }
  std::int64_t size(Split) const override { return size_; }
  Batch allocate(Split, std::int64_t rows) const override {
    Batch batch;
    batch.rows = rows;
    batch.inputs = {at::empty({rows, 5}, at::kDouble)};
    batch.targets = {at::empty({rows}, at::kLong)};
    return batch;
  }
  bool load(Split, std::int64_t index, const Draw&, Batch& batch, std::int64_t row) const override {
    if (bad_.contains(index)) return false;
    Stream stream(7, static_cast<std::uint64_t>(index));
    for (int i = 0; i < 5; ++i)
      batch.inputs[0].mutable_data_ptr<double>()[5 * row + i] = stream.normal();
    batch.targets[0].mutable_data_ptr<std::int64_t>()[row] = index % 3;
    return true;
  }
  std::string sample_name(Split, std::int64_t i) const override { return std::to_string(i); }
  std::int64_t label(Split, std::int64_t index) const override { return index % 3; }
  std::string digest() const override { return "drawn"; }

 private:
  std::int64_t size_;
  std::set<std::int64_t> bad_;
  DataFacts facts_ = [] {
    DataFacts facts;
    facts.classes = {"a", "b", "c"};
    return facts;
  }();
};

struct SmallRun {
  Mode mode = Mode::none;
  int replicas = 1;
  std::int64_t samples = 23, global = 8, accumulate = 1, epochs = 2;
  std::set<std::int64_t> bad = {};
  double bad_share = 0.5;
  bool mixes = false;
  bool norm = false;                   // batch norm instead of dropout
  at::Device device = at::kCPU;        // the others have the numbers after its
  nlohmann::json optimizer = nullptr;  // null: sgd with momentum 0.9
};

inline ModelFactory small_model(const SmallRun& run) {
  return [run] {
    ModelContext context;
    context.data.classes.resize(3);
    context.generator = at::make_generator<at::CPUGeneratorImpl>(5);
    const nlohmann::json between = run.norm ? nlohmann::json{{"type", "batch_norm"}}
                                            : nlohmann::json{{"type", "dropout"}, {"p", 0.4}};
    const nlohmann::json layers{{{"type", "linear"}, {"out", 16}},
                                {{"type", "relu"}},
                                between,
                                {{"type", "linear"}, {"out", 3}}};
    return catalog<Model>().build(
        fragment<Model>({{"type", "sequential"}, {"input", {5}}, {"layers", layers}}), context);
  };
}

/// A run's parts and where it stands. Tests change the parts before they train.
struct SmallTraining : Training {
  RunState state;
  Callbacks observers;
};

inline RunResult train(SmallTraining& t, const Hooks& hooks = {}) {
  return ddptrain::train(t, t.state, hooks, t.observers);
}
/// Of the rank that has all.
inline Checkpoint whole_of(const CheckpointParts& parts) {
  Checkpoint whole;
  whole.step = parts.step;
  whole.state = parts.state;
  for (const auto& file : kTensorFiles)
    for (const auto& part : parts.*file.parts)
      (whole.*file.tensors).push_back({part.name, part.elements});
  return whole;
}
/// On rank 0.
inline Checkpoint capture(const SmallTraining& t) {
  return whole_of(ddptrain::capture(t, t.state));
}
inline void restore(SmallTraining& t, const Checkpoint& checkpoint) {
  t.state = ddptrain::restore(t, checkpoint);
}

inline void set_recipe(Training& t, const SmallRun& run) {
  auto& recipe = t.recipe;
  recipe.parallel.mode = run.mode;
  recipe.train.precision = Precision::fp64;
  recipe.eval.every = {1, Duration::Unit::epochs};
  recipe.eval.batch = Auto<std::int64_t>(4);
  recipe.checkpoint.every = {100, Duration::Unit::epochs};
  recipe.policy.on_bad_sample = OnBadSample::skip;
  recipe.policy.bad_samples.value = run.bad_share;
  recipe.log.every = {1, Duration::Unit::steps};
  t.section.loader.drop_last = false;
  t.placement.replicas = run.replicas;
  t.placement.batch = {run.global, run.global / run.accumulate, run.accumulate, 1};
  const auto steps = (run.samples + run.global - 1) / run.global;
  t.length = {steps * run.epochs, steps, run.global};
}

inline nlohmann::json optimizer_of(const SmallRun& run) {
  if (!run.optimizer.is_null()) return run.optimizer;
  return {{"type", "sgd"}, {"momentum", 0.9}};
}

inline SmallTraining small_training(World& world, const SmallRun& run) {
  SmallTraining t;
  t.world = &world;
  set_recipe(t, run);
  t.data = std::make_unique<DrawnSamples>(run.samples, run.bad);
  SamplerContext order;
  order.size = run.samples;
  t.sampler = catalog<Sampler>().build(Choice<Sampler>("sequential"), order);
  if (run.mixes) t.mix = catalog<Mix>().build(fragment<Mix>("mixup"));
  t.loader = make_loader(*t.data, {.workers = 0, .mix = t.mix.get()});
  t.valid_loader = make_loader(*t.data, {.split = Split::valid, .workers = 0});
  t.loss = catalog<Loss>().build(fragment<Loss>("cross_entropy"), LossContext{3});
  t.metrics.push_back(catalog<Metric>().build(Choice<Metric>("loss"), MetricContext{}));
  EngineOptions options;
  options.numerics.parameters = at::kDouble;
  options.replicas = run.replicas;
  options.sync_bn = run.norm;
  options.device = run.device;
  if (!run.device.is_cpu())
    for (int i = 0; i < run.replicas; ++i) options.device_ids.push_back(run.device.index() + i);
  t.engine = make_engine(run.mode, small_model(run), options, world);
  t.optimizer = catalog<Optimizer>().build(fragment<Optimizer>(optimizer_of(run)),
                                           group_parameters(t.engine->model(), {}, {}));
  TrainingStage stage;
  stage.steps = t.length.total;
  stage.schedule =
      catalog<Schedule>().build(Choice<Schedule>("constant"), ScheduleContext{0.1, 0.9});
  t.stages.push_back(std::move(stage));
  return t;
}

}  // namespace ddptrain::test
