// Runs on a device with graphs and without them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "base/error.h"
#include "simulated/use.h"
#include "train/small_training.h"

namespace ddptrain::test {

using Alter = std::function<void(SmallTraining&)>;

/// Seven steps an epoch, the last of them short. On a device, since only there are graphs.
struct GraphRun {
  SmallRun run{.samples = 55, .epochs = 3};
  std::set<std::int64_t> poisoned = {};
  std::optional<at::ScalarType> autocast = {};
  bool single = false;  // weights are floats, as with autocast, not doubles
  Alter alter = [](SmallTraining&) {};
  bool evaluates = false;
};

class SomePoisoned final : public DrawnSamples {
 public:
  SomePoisoned(std::int64_t size, std::set<std::int64_t> bad, std::set<std::int64_t> poisoned)
      : DrawnSamples(size, std::move(bad)), poisoned_(std::move(poisoned)) {}
  bool load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
            std::int64_t row) const override {
    if (!DrawnSamples::load(split, index, draw, batch, row)) return false;
    if (split == Split::train && poisoned_.contains(index))
      batch.inputs[0].select(0, row).fill_(std::numeric_limits<double>::quiet_NaN());
    return true;
  }

 private:
  std::set<std::int64_t> poisoned_;
};

struct Ended {
  std::vector<NamedTensor> tensors;    // weights, buffers, of the optimizer and of the average
  std::vector<double> losses, norms;   // of each step, the norms of its gradients
  std::vector<std::int64_t> launches;  // so far, at the end of each step
  NamedValues evaluation;
  std::int64_t replays = 0, operators = 0, misuses = 0;
  std::int64_t skipped = 0;
  std::string message;  // of what was thrown
};

class LossListener final : public Callback {
 public:
  explicit LossListener(Ended& ended) : ended_(ended) {}
  void at(Moment moment, const RunView& run, RunControl&) override {
    if (moment != Moment::step_end) return;
    ended_.losses.push_back(run.train_loss);
    ended_.norms.push_back(run.gradient_norm);
    ended_.launches.push_back(simulated::counts().operators);
  }

 private:
  Ended& ended_;
};

inline void keep_state(Ended& ended, const SmallTraining& t) {
  const auto add = [&](const std::vector<NamedTensor>& tensors) {
    for (const auto& [name, tensor] : tensors)
      ended.tensors.push_back({name, tensor.detach().cpu().clone()});
  };
  add(t.engine->model().state());
  add(t.optimizer->state());
  if (t.ema) add(t.ema->state());
}

inline void set_precision(SmallTraining& t, World& world, const GraphRun& kind) {
  if (!kind.autocast && !kind.single) return;
  EngineOptions options;
  options.numerics.autocast = kind.autocast;
  options.device = simulated_device();
  t.engine = make_engine(kind.run.mode, small_model(kind.run), options, world);
  t.optimizer = catalog<Optimizer>().build(fragment<Optimizer>(optimizer_of(kind.run)),
                                           group_parameters(t.engine->model(), {}, {}));
}

inline SmallTraining graph_training(World& world, const GraphRun& kind, Auto<bool> graph) {
  auto run = kind.run;
  run.device = simulated_device();
  auto t = small_training(world, run);
  t.data = std::make_unique<SomePoisoned>(run.samples, run.bad, kind.poisoned);
  t.loader = make_loader(*t.data, {.workers = 0});
  t.valid_loader = make_loader(*t.data, {.split = Split::valid, .workers = 0});
  if (!kind.evaluates) t.recipe.eval.every = epochs(100);
  t.recipe.train.graph = graph;
  t.placement.device = DeviceKind::simulated;
  t.placement.ids = {0};
  set_precision(t, world, kind);
  kind.alter(t);
  return t;
}

inline Ended end_of(SmallTraining& t, const GraphRun& kind) {
  Ended ended;
  t.observers.push_back(std::make_unique<LossListener>(ended));
  Hooks hooks;
  hooks.evaluate = kind.evaluates;
  simulated::reset();
  try {
    train(t, hooks);
  } catch (const Error& error) {
    ended.message = error.what();
  }
  const auto counts = simulated::counts();
  ended.replays = counts.replays;
  ended.operators = counts.operators;
  ended.misuses = counts.freed_in_use;
  ended.evaluation = t.state.evaluation;
  ended.skipped = t.state.position.skipped_steps;
  keep_state(ended, t);
  return ended;
}

inline Ended made_with(Auto<bool> graph, const GraphRun& kind) {
  auto world = single_world();
  auto t = graph_training(world, kind, graph);
  return end_of(t, kind);
}

/// Of each step.
inline void expect_equal_numbers(const std::vector<double>& actual,
                                 const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_TRUE(actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i])))
        << "step " << i + 1;
}

inline void expect_equal_bits(const Ended& actual, const Ended& expected) {
  EXPECT_EQ(actual.message, expected.message);
  ASSERT_EQ(actual.tensors.size(), expected.tensors.size());
  for (std::size_t i = 0; i < actual.tensors.size(); ++i)
    EXPECT_TRUE(actual.tensors[i].tensor.equal(expected.tensors[i].tensor))
        << actual.tensors[i].name;
  expect_equal_numbers(actual.losses, expected.losses);
  expect_equal_numbers(actual.norms, expected.norms);
  EXPECT_EQ(actual.evaluation, expected.evaluation);
  EXPECT_EQ(actual.skipped, expected.skipped);
  EXPECT_EQ(actual.misuses, 0);
}

/// Of 21 steps the first three are warm-up, and three are short. A step is two graphs: the passes,
/// and what follows them.
inline void expect_the_bits_of_eager_steps(const GraphRun& kind, std::int64_t steps = 15,
                                           std::int64_t graphs = 2) {
  const auto graph = made_with(true, kind), eager = made_with(false, kind);
  expect_equal_bits(graph, eager);
  EXPECT_EQ(graph.replays, graphs * steps);
  EXPECT_EQ(eager.replays, 0);
}

inline GraphRun graph_run(nlohmann::json optimizer) {
  GraphRun kind;
  kind.run.optimizer = std::move(optimizer);
  return kind;
}

inline GraphRun altered(GraphRun kind, Alter alter) {
  kind.alter = std::move(alter);
  return kind;
}

inline const nlohmann::json kMomentum{{"type", "sgd"}, {"momentum", 0.9}, {"nesterov", true}};

}  // namespace ddptrain::test
