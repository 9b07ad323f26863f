// What a step reports.
#include "train/step/step.h"

#include <cmath>

#include "train/small_training.h"

namespace ddptrain {
namespace {

using namespace test;

/// Norms of four steps, of which the third is of a short batch.
std::vector<double> norms(World& world, const SmallRun& run, const nlohmann::json& clip = {}) {
  auto t = small_training(world, run);
  if (!clip.is_null()) t.clip = catalog<Clip>().build(fragment<Clip>(clip));
  EpochPlan plan;
  plan.order = t.sampler->order(0);
  plan.batch = run.global;
  const ShardPlan cut{Layout::global_batch, world.size, run.global, run.accumulate, false};
  std::vector<double> all;
  for (const auto& step : shard(run.samples, cut, world.rank)) {
    plan.micros = step;
    t.loader->start(plan);
    all.push_back(make_step(t, t.state, static_cast<std::int64_t>(step.size())).gradient_norm);
  }
  return all;
}

std::vector<double> norms(const SmallRun& run, const nlohmann::json& clip = {}) {
  auto world = single_world();
  return norms(world, run, clip);
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_GT(expected[i], 0);
    EXPECT_NEAR(actual[i], expected[i], 1e-12 * expected[i]) << "step " << i;
  }
}

TEST(GradientNorm, IsThatOfTheMeanUnderEveryEngine) {
  SmallRun run;
  const auto expected = norms(run);
  run.accumulate = 2;
  expect_near(norms(run), expected);
  run.mode = Mode::dp;
  run.replicas = 2;
  expect_near(norms(run), expected);
  run.mode = Mode::ddp;
  run.replicas = 1;
  for (const int ranks : {1, 2, 3})
    play_all(ranks, [&](World& world) { expect_near(norms(world, run), expected); });
}

// The first step's: later ones start from weights that clipping changed.
TEST(GradientNorm, IsThatBeforeClipping) {
  const double plain = norms(SmallRun{}).front();
  EXPECT_NEAR(norms(SmallRun{}, {{"type", "norm"}, {"max", 1e-3}}).front(), plain, 1e-12);
  EXPECT_NEAR(norms(SmallRun{}, {{"type", "value"}, {"max", 1e-3}}).front(), plain, 1e-12);
}

// d/dw of -log softmax(w x + b)_label at 0, by hand: (1/3 - [label]) x; d/db the same without x.
TEST(GradientNorm, IsTheLengthOfAllGradientsTogether) {
  auto world = single_world();
  SmallRun run;
  run.samples = run.global = 1;
  auto t = small_training(world, run);
  t.engine = make_single_engine(
      [] {
        ModelContext context;
        context.data.classes.resize(3);
        context.generator = at::make_generator<at::CPUGeneratorImpl>(5);
        auto model = catalog<Model>().build(
            fragment<Model>({{"type", "sequential"},
                             {"input", {5}},
                             {"layers", {{{"type", "linear"}, {"out", 3}}}}}),
            context);
        for (const auto& named : model->named_parameters()) named.tensor.detach().zero_();
        return model;
      },
      [] {
        EngineOptions options;
        options.numerics.parameters = at::kDouble;
        return options;
      }());
  t.optimizer = catalog<Optimizer>().build(fragment<Optimizer>("sgd"),
                                           group_parameters(t.engine->model(), {}, {}));
  EpochPlan plan;
  plan.order = {0};
  plan.micros.push_back({{0}});
  t.loader->start(plan);
  auto batch = t.data->allocate(Split::train, 1);
  t.data->load(Split::train, 0, {}, batch, 0);
  const double input = batch.inputs[0].norm().item<double>();
  EXPECT_NEAR(make_step(t, t.state, 1).gradient_norm, std::sqrt((input * input + 1) * 6.0 / 9),
              1e-12);
}

/// A run whose model is two layer groups, and what its first step reports.
StepReport first_report(SmallTraining& t) {
  t.recipe.log.every = steps(1);
  t.recipe.log.group_norms = true;
  t.optimizer = catalog<Optimizer>().build(
      fragment<Optimizer>("sgd"),
      group_parameters(t.engine->model(), {"bias"}, layer_groups(t.engine->model())));
  EpochPlan plan;
  plan.order = t.sampler->order(0);
  plan.batch = 8;
  plan.micros = shard(23, {Layout::global_batch, 1, 8, 1, false}, 0).front();
  t.loader->start(plan);
  return make_step(t, t.state, 1);
}

double root_of_squares(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

TEST(GroupNorms, AreThePartsOfTheWhole) {
  auto world = single_world();
  auto t = small_training(world, {});
  std::vector<double> weights(2);
  for (const auto& [name, weight] : t.engine->model().named_parameters()) {
    const double norm = weight.norm().item<double>();
    auto& layer = weights[name.starts_with("0.") ? 0 : 1];
    layer = root_of_squares({layer, norm});
  }
  const auto report = first_report(t);
  ASSERT_EQ(report.group_norms.size(), 4U);
  const std::vector<std::string> names{"train/gradient_norm/0", "train/gradient_norm/1",
                                       "train/weight_norm/0", "train/weight_norm/1"};
  std::vector<double> values;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(report.group_norms[i].first, names[i]);
    values.push_back(report.group_norms[i].second);
    EXPECT_GT(values[i], 0) << names[i];
  }
  EXPECT_NEAR(root_of_squares({values[0], values[1]}), report.gradient_norm, 1e-12);
  EXPECT_NEAR(values[2], weights[0], 1e-12);
  EXPECT_NEAR(values[3], weights[1], 1e-12);
}

TEST(GroupNorms, LeaveOutWhatDoesNotTrain) {
  auto world = single_world();
  auto t = small_training(world, {});
  t.engine->freeze({layer_groups(t.engine->model()).front()});
  const auto report = first_report(t);
  ASSERT_EQ(report.group_norms.size(), 3U);
  EXPECT_EQ(report.group_norms.front().first, "train/gradient_norm/1");
  EXPECT_NEAR(report.group_norms.front().second, report.gradient_norm, 1e-12);
}

}  // namespace
}  // namespace ddptrain
