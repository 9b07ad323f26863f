// Training and evaluation on devices give the CPU's numbers, with batches that are copied ahead.
#include <gtest/gtest.h>

#include "data/loader/prefetcher.h"
#include "simulated/use.h"
#include "train/small_training.h"
#include "train/step/evaluate.h"
#include "train/step/step.h"

namespace ddptrain {
namespace {

using namespace test;

std::unique_ptr<Loader> brought(const SmallTraining& t, Split split, int devices) {
  std::vector<at::Device> places;
  for (int i = 0; i < devices; ++i) places.push_back(simulated_device(i));
  LoaderOptions options;
  options.split = split;
  options.workers = 2;
  options.pinned = true;
  if (split == Split::train) options.mix = t.mix.get();
  return make_prefetcher(make_loader(*t.data, options), places);
}

void add_metrics(SmallTraining& t) {
  for (const auto* name : {"accuracy", "per_class_accuracy", "confusion_matrix", "roc_auc"})
    t.metrics.push_back(
        catalog<Metric>().build(Choice<Metric>(name), MetricContext{{"a", "b", "c"}}));
}

SmallTraining on_cpu(World& world, const SmallRun& run) {
  auto t = small_training(world, run);
  add_metrics(t);
  return t;
}

SmallTraining on_device(World& world, const SmallRun& run) {
  auto t = on_cpu(world, run);
  t.loader = brought(t, Split::train, run.replicas);
  t.valid_loader = brought(t, Split::valid, 1);
  EngineOptions options;
  options.numerics.parameters = at::kDouble;
  options.replicas = run.replicas;
  options.sync_bn = run.norm;
  options.device = simulated_device();
  options.device_ids = {0, 1};
  t.engine = make_engine(run.mode, small_model(run), options, world);
  t.optimizer =
      catalog<Optimizer>().build(fragment<Optimizer>({{"type", "sgd"}, {"momentum", 0.9}}),
                                 group_parameters(t.engine->model(), {}, {}));
  return t;
}

void expect_same_weights(const SmallTraining& there, const SmallTraining& here) {
  const auto expected = here.engine->model().named_parameters();
  std::size_t next = 0;
  for (const auto& [name, tensor] : there.engine->model().named_parameters())
    EXPECT_LT(
        (tensor.detach().cpu().sub(expected[next++].tensor.detach())).abs().max().item<double>(),
        1e-12)
        << name;
}

void expect_same_values(const Evaluation& there, const Evaluation& here) {
  ASSERT_EQ(there.values.size(), here.values.size());
  for (std::size_t i = 0; i < here.values.size(); ++i) {
    EXPECT_EQ(there.values[i].first, here.values[i].first);
    EXPECT_NEAR(there.values[i].second, here.values[i].second, 1e-12) << here.values[i].first;
  }
  ASSERT_EQ(there.tables.size(), here.tables.size());
  for (std::size_t i = 0; i < here.tables.size(); ++i)
    EXPECT_EQ(there.tables[i].cells, here.tables[i].cells);
  EXPECT_EQ(there.left_out, here.left_out);
}

// Two epochs of 23 samples, the last batch short, two samples bad, rows mixed.
TEST(TrainingOnADevice, IsTheCpus) {
  SmallRun run;
  run.bad = {4, 20};
  for (const bool mixes : {false, true})
    for (const bool norm : {false, true})
      for (const int replicas : {1, 2}) {
        SCOPED_TRACE(std::to_string(mixes) + " " + std::to_string(norm) + " x " +
                     std::to_string(replicas));
        run.mixes = mixes;
        run.norm = norm;
        run.replicas = replicas;
        run.mode = replicas > 1 ? Mode::dp : Mode::none;
        auto world = single_world();
        auto here = on_cpu(world, run), there = on_device(world, run);
        train(here);
        train(there);
        expect_same_weights(there, here);
        expect_same_values(evaluate(there), evaluate(here));
      }
}

TEST(TrainingOnADevice, EvaluatesAsTheCpuAndWaitsForTheLastBatchAlone) {
  SmallRun run;
  run.bad = {4};
  auto world = single_world();
  auto here = on_cpu(world, run), there = on_device(world, run);
  here.recipe.eval.tta = there.recipe.eval.tta = TtaSpec{};
  evaluate(there);
  simulated::reset();
  const auto found = evaluate(there);
  const auto counts = simulated::counts();
  EXPECT_EQ(counts.waited(), 1) << counts.waits.begin()->first;
  EXPECT_EQ(counts.from_pageable, 0);
  EXPECT_EQ(counts.freed_in_use, 0);
  expect_same_values(found, evaluate(here));
}

}  // namespace
}  // namespace ddptrain
