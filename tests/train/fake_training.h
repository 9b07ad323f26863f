// A run whose parts only take notes: steps change nothing, and evaluations give what a test says.
#pragma once

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <string>
#include <vector>

#include "distributed/window_numbers.h"
#include "train/small_training.h"

namespace ddptrain::test {

/// One weight, which no step gives a gradient.
class OneWeight final : public Model {
 public:
  OneWeight() { parameter("weight", at::ones({1}, at::kDouble)); }
  at::Tensor forward(const at::Tensor& input, const Pass&) override { return input; }
};

class FakeEngine final : public Engine {
 public:
  explicit FakeEngine(World& world) : world_(world) {}
  StepTotals totals{1, 4, true, 0};  // of every step
  std::vector<Frozen> frozen;        // of every call
  std::vector<MicroStep> micros;     // that were accumulated

  void freeze(const Frozen& what) override { frozen.push_back(what); }
  Model& model() override { return model_; }
  void begin() override {}
  void accumulate(const Batch&, const Loss&, const MicroStep& at) override { micros.push_back(at); }
  at::Tensor sum(bool asked) override {
    auto numbers = at::zeros({kWindowNumbers}, at::kDouble);
    auto* at = numbers.mutable_data_ptr<double>();
    at[kLossSum] = totals.loss_sum;
    at[kWeight] = totals.weight;
    at[kOverflow] = totals.finite ? 0 : 1;
    at[kLeftOut] = static_cast<double>(totals.left_out);
    at[kAsked] = asked ? 1 : 0;
    world_.control->all_reduce(numbers);
    return numbers.div_(world_.size);
  }
  void broadcast_buffers() override {}
  void parameters_changed() override {}
  at::Tensor forward(const Batch& batch, const Pass&) override {
    return at::zeros({batch.rows, 1});
  }
  PassCapture& capture() override { return no_capture_; }

 private:
  World& world_;
  OneWeight model_;
  NoPassCapture no_capture_{"its steps change nothing"};
};

/// Empty rows, as many as are planned.
class FakeLoader final : public Loader {
 public:
  std::vector<EpochPlan> plans;  // that it was started with

  void start(EpochPlan plan) override {
    plans.push_back(std::move(plan));
    next_ = 0;
  }
  Batch next() override {
    const auto& micro = plans.back().micros.at(next_++);
    Batch batch;
    batch.rows = std::ssize(micro.positions);
    batch.inputs = {at::zeros({batch.rows, 1})};
    batch.targets = {at::zeros({batch.rows}, at::kLong)};
    return batch;
  }

 private:
  std::size_t next_ = 0;
};

class NoLoss final : public Loss {
 public:
  LossTerms operator()(const at::Tensor& output, const at::Tensor&) const override {
    return {at::zeros({output.size(0)}), at::ones({output.size(0)})};
  }
};

/// "score" of one evaluation after the other; the last one again and again.
class Scripted final : public Metric {
 public:
  explicit Scripted(std::vector<double> scores) : scores_(std::move(scores)) {}
  at::Tensor sums(const at::Tensor&, const at::Tensor&, const LossTerms&) const override {
    return at::zeros({0}, at::kDouble);
  }
  Values values(const Terms&) const override {
    return {{"score", scores_[std::min(next_++, scores_.size() - 1)]}};
  }

 private:
  std::vector<double> scores_;
  mutable std::size_t next_ = 0;
};

/// "begin", "step 1", "evaluated 1", "saved 1", "end".
class Events final : public Callback {
 public:
  explicit Events(std::vector<std::string>& kept) : kept_(kept) {}
  void at(Moment moment, const RunView& run, RunControl&) override {
    const auto step = " " + std::to_string(run.step);
    if (moment == Moment::run_begin) kept_.push_back("begin");
    if (moment == Moment::step_end) kept_.push_back("step" + step);
    if (moment == Moment::evaluated) kept_.push_back("evaluated" + step);
    if (moment == Moment::saved) kept_.push_back("saved" + step);
    if (moment == Moment::run_end) kept_.push_back("end");
  }

 private:
  std::vector<std::string>& kept_;
};

/// Two epochs of three steps of four samples, evaluated and saved at the end alone.
inline SmallTraining fake_training(World& world, std::int64_t samples = 12) {
  SmallTraining t;
  t.world = &world;
  SmallRun run;
  run.samples = samples;
  run.global = 4;
  set_recipe(t, run);
  t.recipe.eval.every = epochs(100);
  t.data = std::make_unique<DrawnSamples>(samples, std::set<std::int64_t>{});
  SamplerContext order;
  order.size = samples;
  t.sampler = catalog<Sampler>().build(Choice<Sampler>("sequential"), order);
  t.loader = std::make_unique<FakeLoader>();
  t.valid_loader = std::make_unique<FakeLoader>();
  t.loss = std::make_unique<NoLoss>();
  t.metrics.push_back(std::make_unique<Scripted>(std::vector<double>{0}));
  t.engine = std::make_unique<FakeEngine>(world);
  t.optimizer = catalog<Optimizer>().build(fragment<Optimizer>("sgd"),
                                           group_parameters(t.engine->model(), {}, {}));
  TrainingStage stage;
  stage.steps = t.length.total;
  stage.schedule =
      catalog<Schedule>().build(Choice<Schedule>("constant"), ScheduleContext{0.1, {}});
  t.stages.push_back(std::move(stage));
  return t;
}

inline FakeEngine& engine_of(Training& t) { return dynamic_cast<FakeEngine&>(*t.engine); }
inline FakeLoader& loader_of(const Training& t) { return dynamic_cast<FakeLoader&>(*t.loader); }

}  // namespace ddptrain::test
