// Steps of a device that decides by itself: what they do is what steps of the CPU do, and the host
// never waits for them.
#include "train/step/step.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/ones_like.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"
#include "simulated/use.h"
#include "train/small_training.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::Each;

/// Samples of which some are no numbers.
class Poisoned final : public DrawnSamples {
 public:
  Poisoned(std::int64_t size, std::set<std::int64_t> bad, std::set<std::int64_t> poisoned)
      : DrawnSamples(size, std::move(bad)), poisoned_(std::move(poisoned)) {}
  bool load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
            std::int64_t row) const override {
    if (!DrawnSamples::load(split, index, draw, batch, row)) return false;
    if (poisoned_.contains(index))
      batch.inputs[0].select(0, row).fill_(std::numeric_limits<double>::quiet_NaN());
    return true;
  }

 private:
  std::set<std::int64_t> poisoned_;
};

/// What an observer hears at the end of each step.
struct ObservedSteps {
  std::vector<std::int64_t> steps, waits;
  std::vector<double> losses, norms, rates, group_norms;
};

class Listener final : public Callback {
 public:
  explicit Listener(ObservedSteps& observed) : observed_(observed) {}
  void at(Moment moment, const RunView& run, RunControl&) override {
    if (moment != Moment::step_end) return;
    observed_.steps.push_back(run.step);
    observed_.losses.push_back(run.train_loss);
    observed_.norms.push_back(run.gradient_norm);
    observed_.rates.push_back(run.lr);
    for (const auto& [name, norm] : run.group_norms) observed_.group_norms.push_back(norm);
    observed_.waits.push_back(simulated::counts().waited());
  }

 private:
  ObservedSteps& observed_;
};

using Change = std::function<void(SmallTraining&)>;

struct Made {
  ObservedSteps observed;
  Position position;
  std::vector<NamedTensor> weights, optimizer, average;
  std::string message;  // of what was thrown
  RunResult result;
};

std::vector<NamedTensor> on_the_host(std::vector<NamedTensor> tensors) {
  for (auto& [name, tensor] : tensors) tensor = tensor.detach().cpu().clone();
  return tensors;
}

struct Kind {
  SmallRun run;
  std::set<std::int64_t> poisoned = {};
  Change change = [](SmallTraining&) {};
  Hooks hooks = {};
};

Made make(World& world, const Kind& kind) {
  auto t = small_training(world, kind.run);
  t.data = std::make_unique<Poisoned>(kind.run.samples, kind.run.bad, kind.poisoned);
  t.loader = make_loader(*t.data, {.workers = 0});
  t.recipe.eval.every = epochs(100);
  kind.change(t);
  Made made;
  t.observers.push_back(std::make_unique<Listener>(made.observed));
  auto hooks = kind.hooks;
  hooks.evaluate = false;
  try {
    made.result = train(t, hooks);
  } catch (const Error& error) {
    made.message = error.what();
  }
  made.position = t.state.position;
  made.weights = on_the_host(t.engine->model().state());
  made.optimizer = on_the_host(t.optimizer->state());
  if (t.ema) made.average = on_the_host(t.ema->state());
  return made;
}

Made make(const Kind& kind) {
  auto world = single_world();
  return make(world, kind);
}

/// The same on a device.
Kind far(Kind kind) {
  kind.run.device = simulated_device();
  return kind;
}

void expect_same(const std::vector<NamedTensor>& actual, const std::vector<NamedTensor>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].name, expected[i].name);
    EXPECT_TRUE(at::allclose(actual[i].tensor, expected[i].tensor, 1e-12, 1e-14)) << actual[i].name;
  }
}

void expect_same(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (std::isfinite(expected[i]))
      EXPECT_NEAR(actual[i], expected[i], 1e-12 * std::abs(expected[i])) << "step " << i + 1;
    else
      EXPECT_EQ(std::isnan(actual[i]), std::isnan(expected[i])) << "step " << i + 1;
}

void expect_same(const Made& actual, const Made& expected) {
  EXPECT_EQ(actual.message, expected.message);
  EXPECT_EQ(actual.observed.steps, expected.observed.steps);
  expect_same(actual.observed.losses, expected.observed.losses);
  expect_same(actual.observed.norms, expected.observed.norms);
  expect_same(actual.observed.rates, expected.observed.rates);
  expect_same(actual.observed.group_norms, expected.observed.group_norms);
  expect_same(actual.weights, expected.weights);
  expect_same(actual.optimizer, expected.optimizer);
  expect_same(actual.average, expected.average);
  const auto &a = actual.position, &b = expected.position;
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.epoch, b.epoch);
  EXPECT_EQ(a.step_in_epoch, b.step_in_epoch);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.bad_in_epoch, b.bad_in_epoch);
  EXPECT_EQ(a.skipped_steps, b.skipped_steps);
  EXPECT_EQ(a.empty_steps, b.empty_steps);
}

/// From the second step, whose numbers tell the unit of the weights, to the last but one.
void expect_no_wait(const ObservedSteps& observed) {
  const std::vector<std::int64_t> steady(observed.waits.begin() + 2, observed.waits.end() - 1);
  EXPECT_THAT(steady, Each(steady.front())) << simulated::counts().waits.begin()->first;
}

nlohmann::json sgd(nlohmann::json more = {}) {
  nlohmann::json made{{"type", "sgd"}, {"momentum", 0.9}};
  if (!more.is_null()) made.update(more);
  return made;
}

Kind with(nlohmann::json optimizer) {
  Kind kind;
  kind.run.optimizer = std::move(optimizer);
  kind.run.epochs = 3;
  return kind;
}

Kind clipped(Kind kind, const nlohmann::json& clip) {
  kind.change = [clip](SmallTraining& t) { t.clip = catalog<Clip>().build(fragment<Clip>(clip)); };
  return kind;
}

Kind averaged(Kind kind) {
  kind.change = [](SmallTraining& t) {
    t.recipe.train.ema.emplace();
    t.ema = std::make_unique<Ema>(t.engine->model().named_parameters(), 0.9);
  };
  return kind;
}

Kind with_group_norms(Kind kind) {
  kind.change = [](SmallTraining& t) {
    t.recipe.log.every = steps(1);
    t.recipe.log.group_norms = true;
  };
  return kind;
}

Kind in_half_precision(Kind kind) {
  kind.change = [](SmallTraining& t) {
    t.state.loss_scale.emplace(LossScaleOptions{.initial = 1024, .growth_interval = 3});
  };
  return kind;
}

TEST(StepsOnADevice, AreThoseOfTheCpuWithoutAWait) {
  auto accumulated = with(sgd());
  accumulated.run.accumulate = 2;
  const nlohmann::json adam{{"type", "adam"}, {"amsgrad", true}};
  const nlohmann::json decays{{"weight_decay", 0.1}, {"decoupled_weight_decay", true}};
  for (const auto& kind :
       {with(sgd()), with(sgd(decays)), with(adam), with("adamw"), accumulated,
        with_group_norms(with(sgd())), clipped(with(sgd()), {{"type", "norm"}, {"max", 0.1}}),
        clipped(with("adamw"), {{"type", "value"}, {"max", 0.01}}), averaged(with("adamw")),
        in_half_precision(with(sgd()))}) {
    SCOPED_TRACE(kind.run.optimizer.dump());
    const auto device = make(far(kind));
    expect_same(device, make(kind));
    expect_no_wait(device.observed);
  }
}

// LibTorch has no kernels of theirs that heed the device's decision.
TEST(StepsOnADevice, OfOtherOptimizersDoNotWaitEither) {
  const nlohmann::json lookahead{{"type", "lookahead"}, {"inner", "sgd"}, {"k", 2}};
  for (const auto& kind : {with("lion"), with("rmsprop"), with("radam"), with(lookahead),
                           with("muon"), with("ranger")}) {
    SCOPED_TRACE(kind.run.optimizer.dump());
    const auto device = make(far(kind));
    expect_same(device, make(kind));
    expect_no_wait(device.observed);
  }
}

Kind skipping(Kind kind, std::set<std::int64_t> poisoned) {
  kind.poisoned = std::move(poisoned);
  kind.change = [change = kind.change](SmallTraining& t) {
    change(t);
    t.recipe.policy.on_non_finite = OnNonFinite::skip;
  };
  return kind;
}

// Samples 0, 9 and 20 are in the first, second and third step of each epoch.
TEST(StepsOnADevice, AreLeftOutWhereTheyAreNotFinite) {
  const nlohmann::json damped = sgd({{"dampening", 0.5}});
  const nlohmann::json lookahead{{"type", "lookahead"}, {"inner", "nadam"}, {"k", 2}};
  for (const auto& optimizer :
       {damped, nlohmann::json("adamw"), nlohmann::json("radam"), lookahead})
    for (const auto& poisoned : {std::set<std::int64_t>{0}, {9}, {20}, {0, 9}}) {
      const auto kind = skipping(averaged(with(optimizer)), poisoned);
      const auto device = make(far(kind));
      expect_same(device, make(kind));
      EXPECT_EQ(device.position.skipped_steps, 3 * std::ssize(poisoned));
    }
}

TEST(StepsOnADevice, HalveTheLossScaleWhereTheyAreNotFinite) {
  auto kind = in_half_precision(with(sgd()));
  kind.poisoned = {9};
  const auto device = make(far(kind));
  expect_same(device, make(kind));
  EXPECT_EQ(device.position.skipped_steps, 3);
}

TEST(StepsOnADevice, StopTheRunAtTheFirstThatIsNotFinite) {
  auto kind = with("adamw");
  kind.poisoned = {9};
  const auto device = make(far(kind));
  expect_same(device, make(kind));
  EXPECT_THAT(device.message, testing::HasSubstr("the loss is not finite at step 2 (sum "));
}

/// 0, whose gradient is 0 times infinity.
class FlatRoot final : public Loss {
 public:
  LossTerms operator()(const at::Tensor& output, const at::Tensor&) const override {
    const auto values = output.sum(1).mul(0).sqrt();
    return {values, at::ones_like(values.detach())};
  }
};

TEST(StepsOnADevice, LookAtTheirGradientsWhateverTheLossIs) {
  auto kind = far(with(sgd()));
  kind.change = [](SmallTraining& t) { t.loss = std::make_unique<FlatRoot>(); };
  EXPECT_THAT(make(kind).message,
              testing::HasSubstr("a gradient is not finite at step 1 (sum 0.0"));
}

TEST(StepsOnADevice, CountBadSamplesOfTheirEpoch) {
  auto kind = with(sgd());
  kind.run.bad = {1, 7, 22};
  expect_same(make(far(kind)), make(kind));
  kind.run.bad_share = 2.5 / 23;
  const auto device = make(far(kind));
  EXPECT_EQ(device.message, make(kind).message);
  EXPECT_THAT(device.message, testing::HasSubstr("3 of 23 training samples of epoch 1"));
}

TEST(StepsOnADevice, CountNothingWithoutACountedSample) {
  auto kind = with(sgd());
  kind.run.bad = {8, 9, 10, 11, 12, 13, 14, 15};
  const auto device = make(far(kind));
  expect_same(device, make(kind));
  EXPECT_EQ(device.position.empty_steps, 3);
}

TEST(StepsOnADevice, HeedARateThatACallbackChangesAtEachStep) {
  class Halves final : public Callback {
   public:
    void at(Moment moment, const RunView& run, RunControl& control) override {
      if (moment == Moment::step_end) control.lr_factor *= 0.5;
      if (moment == Moment::step_end && run.step == 5) control.stop = "enough";
    }
    bool steers_each_step() const override { return true; }
  };
  auto kind = with("adamw");
  kind.change = [](SmallTraining& t) { t.observers.push_back(std::make_unique<Halves>()); };
  const auto device = make(far(kind));
  expect_same(device, make(kind));
  EXPECT_EQ(device.position.step, 5);
}

TEST(StepsOnADevice, OfTwoReplicasAreThoseOfTheCpu) {
  auto kind = with("adamw");
  kind.run.mode = Mode::dp;
  kind.run.replicas = 2;
  expect_same(make(far(kind)), make(kind));
}

TEST(StepsOnADevice, EndWhereTheirNumbersDoNotCome) {
  auto world = single_world();
  world.step_limit = std::chrono::milliseconds(100);
  auto kind = far(with("adamw"));
  kind.change = [](SmallTraining&) { simulated::let_events_pass(false); };
  const auto made = make(world, kind);
  simulated::let_events_pass(true);
  EXPECT_EQ(made.message,
            "rank 0, step 1: its numbers did not come within 100 ms: another rank hangs, or "
            "'parallel.timeout.step' is too short");
}

/// On which another rank has posted its failure.
class OneFailure final : public FailureBoard {
 public:
  void post(const Failure&) override {}
  std::shared_ptr<std::atomic<int>> waits() const override { return waits_; }
  std::optional<Failure> cause(std::chrono::milliseconds) override { return {}; }
  Explain explanation() const override { return {}; }
  bool peer_has_failed() const override { return *waits_ > 0; }
  void leave() override {}

 private:
  std::shared_ptr<std::atomic<int>> waits_ = std::make_shared<std::atomic<int>>(0);
};

TEST(StepsOnADevice, EndWhereAnotherRankHasFailed) {
  auto world = single_world();
  world.board = std::make_unique<OneFailure>();
  world.step_limit = std::chrono::minutes(5);
  auto kind = far(with("adamw"));
  kind.change = [](SmallTraining&) { simulated::let_events_pass(false); };
  const auto made = make(world, kind);
  simulated::let_events_pass(true);
  EXPECT_EQ(made.message, "rank 0, step 1: another rank has ended; its own message says why");
}

std::vector<Made> of_two_ranks(Kind kind) {
  kind.run.mode = Mode::ddp;
  std::vector<Made> all(2);
  play_all(2, [&](World& world) { all[static_cast<std::size_t>(world.rank)] = make(world, kind); });
  return all;
}

TEST(StepsOfRanksOnADevice, AreThoseOfTheCpuWithoutAWait) {
  for (const auto& kind : {with("adamw"), clipped(with(sgd()), {{"type", "norm"}, {"max", 0.1}}),
                           skipping(averaged(with(sgd())), {9})}) {
    const auto expected = of_two_ranks(kind);
    const auto ranks = of_two_ranks(far(kind));
    for (std::size_t rank = 0; rank < 2; ++rank) {
      expect_same(ranks[rank], expected[rank]);
      expect_no_wait(ranks[rank].observed);
    }
  }
}

TEST(StepsOfRanksOnADevice, LeaveTogetherAfterTheSignalOfOne) {
  auto kind = far(with(sgd()));
  kind.run.mode = Mode::ddp;
  std::vector<Made> all(2);
  play_all(2, [&](World& world) {
    auto own = kind;
    const auto* position = static_cast<const Position*>(nullptr);
    own.change = [&](SmallTraining& t) { position = &t.state.position; };
    own.hooks.stop_requested = [&] {
      return StopRequest{world.rank == 1 && position->step >= 3 ? SIGTERM : 0, 1};
    };
    all[static_cast<std::size_t>(world.rank)] = make(world, own);
  });
  for (const auto& made : all) {
    EXPECT_EQ(made.result.signal, SIGTERM);
    EXPECT_EQ(made.position.step, all[0].position.step);
    EXPECT_LE(made.position.step, 6);
  }
  expect_same(all[1].weights, all[0].weights);
}

}  // namespace
}  // namespace ddptrain
