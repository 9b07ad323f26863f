// Steps in half precision and with weights of classes: the host waits for nothing, and copies
// nothing but the batch.
#include <gmock/gmock.h>

#include "simulated/use.h"
#include "train/small_training.h"

namespace ddptrain {
namespace {

using namespace test;

/// At the end of each step.
struct Quiet {
  std::vector<std::int64_t> waits, copies;
  std::vector<double> losses;
  Position position;
};

class QuietListener final : public Callback {
 public:
  explicit QuietListener(Quiet& quiet) : quiet_(quiet) {}
  void at(Moment moment, const RunView& run, RunControl&) override {
    if (moment != Moment::step_end) return;
    const auto counts = simulated::counts();
    quiet_.waits.push_back(counts.waited());
    quiet_.copies.push_back(counts.from_pageable + counts.from_pinned);
    quiet_.losses.push_back(run.train_loss);
  }

 private:
  Quiet& quiet_;
};

using Adapt = std::function<void(SmallTraining&, const SmallRun&, World&)>;

/// Ten epochs of three steps.
Quiet quiet_run(const Adapt& adapt) {
  SmallRun run{.samples = 24, .epochs = 10, .norm = true};
  run.device = simulated_device();
  auto world = single_world();
  auto t = small_training(world, run);
  t.recipe.eval.every = {100, Duration::Unit::epochs};
  adapt(t, run, world);
  Quiet quiet;
  t.observers.push_back(std::make_unique<QuietListener>(quiet));
  Hooks hooks;
  hooks.evaluate = false;
  train(t, hooks);
  quiet.position = t.state.position;
  return quiet;
}

Quiet under_autocast(at::ScalarType type) {
  return quiet_run([type](SmallTraining& t, const SmallRun& run, World& world) {
    EngineOptions options;
    options.numerics.autocast = type;
    options.device = run.device;
    t.engine = make_engine(run.mode, small_model(run), options, world);
    t.optimizer = catalog<Optimizer>().build(fragment<Optimizer>(optimizer_of(run)),
                                             group_parameters(t.engine->model(), {}, {}));
    if (type == at::kHalf) t.state.loss_scale.emplace(LossScaleOptions{.initial = 1024});
  });
}

// From the second step, whose numbers tell the unit of the weights, to the last but one.
TEST(StepsInHalfPrecision, DoNotWait) {
  for (const auto type : {at::kBFloat16, at::kHalf}) {
    const auto run = under_autocast(type);
    const std::vector<std::int64_t> steady(run.waits.begin() + 2, run.waits.end() - 1);
    EXPECT_THAT(steady, testing::Each(steady.front())) << type;
    EXPECT_EQ(run.position.step, 30);
    EXPECT_EQ(run.position.skipped_steps, 0);
    EXPECT_LT(run.losses.back(), run.losses.front());
  }
}

TEST(StepsWithWeightsOfClasses, CopyNoMoreThanOthers) {
  const auto copies_of = [](const nlohmann::json& loss) {
    const auto run = quiet_run([&loss](SmallTraining& t, const SmallRun&, World&) {
      t.loss = catalog<Loss>().build(fragment<Loss>(loss), LossContext{3});
    });
    std::vector<std::int64_t> each;
    for (std::size_t i = 2; i < run.copies.size(); ++i)
      each.push_back(run.copies[i] - run.copies[i - 1]);
    return each;
  };
  const nlohmann::json weighed{{"type", "cross_entropy"}, {"weight", {1, 2, 0.5}}};
  EXPECT_EQ(copies_of(weighed), copies_of("cross_entropy"));
}

}  // namespace
}  // namespace ddptrain
