// Trajectories of the peers' optimizers, through the components that recipes get.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "optim/ema.h"
#include "optim/loss_scale.h"
#include "optim/optimizer.h"
#include "support/adafactor.h"
#include "support/fastai_optimizer.h"
#include "support/golden.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using nlohmann::json;

at::Tensor vector_of(const std::vector<double>& values, at::ScalarType type) {
  auto tensor = at::empty({static_cast<std::int64_t>(values.size())}, at::kDouble);
  std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<double>());
  return tensor.to(type);
}

std::vector<double> doubles(const at::Tensor& tensor) {
  const auto flat = tensor.detach().to(at::kDouble).contiguous();
  const auto* first = flat.const_data_ptr<double>();
  return {first, first + flat.numel()};
}

NamedTensor parameter(const std::string& name, const at::Tensor& value) {
  return {name, value.clone().set_requires_grad(true)};
}

/// Three parameters and their gradients, as the file's "about" defines them.
class Problem {
 public:
  Problem() {
    const std::vector<std::vector<std::int64_t>> shapes{{3, 4}, {5}, {2, 3}};
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      std::int64_t count = 1;
      for (const auto size : shapes[k]) count *= size;
      std::vector<double> values;
      for (std::int64_t i = 0; i < count; ++i)
        values.push_back(0.5 * std::cos(0.3 * static_cast<double>(i) + static_cast<double>(k)));
      parameters_.push_back(
          parameter("p" + std::to_string(k), vector_of(values, at::kDouble).view(shapes[k])));
    }
  }

  const std::vector<NamedTensor>& parameters() const { return parameters_; }

  /// Gradients of step t, from 1.
  void set_gradients(int t) {
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
      const auto& tensor = parameters_[k].tensor;
      std::vector<double> values;
      for (std::int64_t i = 0; i < tensor.numel(); ++i)
        values.push_back(
            std::sin(0.7 * static_cast<double>(i) + 0.9 * static_cast<double>(k) + 0.5 * t) *
            (0.2 + 0.1 * t));
      tensor.mutable_grad() = vector_of(values, at::kDouble).view(tensor.sizes());
    }
  }

  std::vector<double> flat() const {
    std::vector<double> all;
    for (const auto& [name, tensor] : parameters_) {
      const auto values = doubles(tensor);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

 private:
  std::vector<NamedTensor> parameters_;
};

std::unique_ptr<Optimizer> build(const json& recipe, std::vector<ParameterGroup> groups) {
  return catalog<Optimizer>().build(fragment<Optimizer>(recipe), std::move(groups));
}

ParameterGroup group_of(std::vector<NamedTensor> parameters) {
  ParameterGroup group;
  group.name = "decay";
  group.parameters = std::move(parameters);
  return group;
}

/// One group, or one per parameter with multipliers of the optimizer's rate and decay.
std::vector<ParameterGroup> groups_of(const Problem& problem, const json& input,
                                      const json& options) {
  std::vector<ParameterGroup> groups;
  const auto& all = problem.parameters();
  for (std::size_t k = 0; k < all.size(); ++k) {
    auto group = group_of({all[k]});
    const double lr = options.value("lr", 1.0);
    if (input.contains("group_lr")) group.lr_scale = input["group_lr"][k].get<double>() / lr;
    if (input.contains("groups")) {
      const auto& own = input["groups"][k];
      const double decay = options.value("weight_decay", 0.0);
      group.lr_scale = own.value("lr", lr) / lr;
      if (own.contains("weight_decay") && decay != 0)
        group.decay_scale = own["weight_decay"].get<double>() / decay;
    }
    groups.push_back(group);
  }
  if (input.contains("group_lr") || input.contains("groups")) return groups;
  return {group_of(all)};
}

void apply_exceptions(const Problem& problem, const json& input, int t) {
  const auto gradient = [&](const json& k) -> at::Tensor& {
    return problem.parameters().at(k.get<std::size_t>()).tensor.mutable_grad();
  };
  if (input.contains("zero_param")) gradient(input["zero_param"]).zero_();
  if (input.contains("missing") && input["missing"]["step"] == t)
    gradient(input["missing"]["param"]).reset();
}

void expect_trajectory(const golden::Case& c, const json& recipe, double tolerance) {
  Problem problem;
  const auto optimizer = build(recipe, groups_of(problem, c.input, c.input.at("options")));
  int t = 0;
  for (const auto& expected : c.expect.at("params")) {
    problem.set_gradients(++t);
    apply_exceptions(problem, c.input, t);
    optimizer->step({optimizer->lr(), {}});
    golden::expect_close(problem.flat(), golden::numbers(expected), 0, tolerance,
                         "parameters after step " + std::to_string(t));
  }
}

json with_type(const json& input) {
  json recipe = input.at("options");
  recipe["type"] = input.at("optimizer");
  if (recipe["type"] == "sgdw") {
    recipe["type"] = "sgd";
    recipe["decoupled_weight_decay"] = true;
  }
  return recipe;
}

json fastai(const json& input) {
  return golden::fastai_optimizer(input.at("optimizer"), input.at("options"),
                                  input.value("inner", ""));
}

GOLDEN(adafactor, transformers) {
  expect_trajectory(c, golden::adafactor_of_transformers(c.input.at("options")), 1e-9);
}

GOLDEN(optimizers, torch) { expect_trajectory(c, with_type(c.input), 1e-9); }

/// Newton-Schulz runs in bfloat16: a hundredth of the largest parameter.
GOLDEN(optimizers, torch_muon) {
  Problem problem;
  std::vector<NamedTensor> used;
  for (const std::size_t k : c.input.at("params_used")) {
    auto p = problem.parameters()[k];
    p.tensor.set_data(p.tensor.to(at::kFloat));
    used.push_back(p);
  }
  const auto optimizer = build(with_type(c.input), {group_of(used)});
  int t = 0;
  for (const auto& expected : c.expect.at("params")) {
    problem.set_gradients(++t);
    std::vector<double> ours;
    for (const auto& p : used) p.tensor.mutable_grad() = p.tensor.grad().to(at::kFloat);
    optimizer->step({optimizer->lr(), {}});
    for (const auto& p : used)
      for (const double value : doubles(p.tensor)) ours.push_back(value);
    golden::expect_close(ours, golden::numbers(expected), 1e-2, 1e-3,
                         "parameters after step " + std::to_string(t));
  }
}

GOLDEN(optimizers, timm) { expect_trajectory(c, with_type(c.input), 1e-9); }

GOLDEN(optimizers, fastai) { expect_trajectory(c, fastai(c.input), 2e-7); }

GOLDEN(optimizers, fastai_scalar) {
  const auto p = parameter("p", vector_of(golden::numbers(c.input.at("start")), at::kDouble));
  const auto optimizer = build(fastai(c.input), {group_of({p})});
  for (const auto& expected : c.expect.at("params")) {
    p.tensor.mutable_grad() = vector_of(golden::numbers(c.input.at("gradient")), at::kDouble);
    optimizer->step({optimizer->lr(), {}});
    golden::expect_close(doubles(p.tensor), golden::numbers(expected), 0, 2e-7, "parameters");
  }
}

GOLDEN(optimizers, grad_scaler) {
  LossScale scale({.initial = c.input.at("init_scale"),
                   .growth = c.input.at("growth_factor"),
                   .backoff = c.input.at("backoff_factor"),
                   .growth_interval = c.input.at("growth_interval")});
  const std::set<int> bad = c.input.at("nonfinite_steps");
  const auto p = parameter("p", vector_of({1, 2}, at::kFloat));
  const auto optimizer = build({{"type", "sgd"}, {"lr", 0.1}}, {group_of({p})});
  for (const auto& expected : c.expect.at("steps")) {
    const bool finite = !bad.contains(expected.at("step").get<int>());
    EXPECT_EQ(expected.at("skipped").get<bool>(), !finite);
    const double used = scale.scale();
    scale.update(finite);
    if (finite) {
      p.tensor.mutable_grad() = vector_of({0.1, 0.2}, at::kFloat).mul_(used).mul_(1 / used);
      optimizer->step({optimizer->lr(), {}});
    }
    EXPECT_EQ(scale.scale(), expected.at("scale_after").get<double>());
    EXPECT_EQ(scale.finite_steps(), expected.at("growth_tracker").get<std::int64_t>());
    golden::expect_close(doubles(p.tensor), golden::numbers(expected.at("params")), 0, 2e-5,
                         "parameters");
  }
}

EmaOptions average_options(const json& input) {
  EmaOptions options;
  const std::string type = input.at("type");
  if (type == "swa") options.type = Averaging::swa;
  options.decay = input.value("decay", options.decay);
  options.warmup = input.value("use_warmup", false);
  options.warmup_gamma = input.value("warmup_gamma", options.warmup_gamma);
  options.warmup_power = input.value("warmup_power", options.warmup_power);
  options.min_decay = input.value("min_decay", 0.0);
  options.update_after_step = input.value("update_after_step", std::int64_t{0});
  return options;
}

void expect_averages(const golden::Case& c) {
  Problem problem;
  const auto optimizer = build(with_type(c.input), {group_of(problem.parameters())});
  const auto options = average_options(c.input);
  Ema ema(problem.parameters(), options);
  const auto& averages = c.expect.at("averages");
  for (std::size_t t = 0; t < averages.size(); ++t) {
    problem.set_gradients(static_cast<int>(t) + 1);
    optimizer->step({optimizer->lr(), {}});
    ema.update();
    std::vector<double> flat;
    for (const auto& [name, tensor] : ema.parameters()) {
      const auto values = doubles(tensor);
      flat.insert(flat.end(), values.begin(), values.end());
    }
    // torch's swa computes 1 / (n + 1) in float32
    const double tolerance = options.type == Averaging::swa ? 2e-7 : 1e-9;
    golden::expect_close(flat, golden::numbers(averages[t]), 0, tolerance, "average");
    if (!c.expect.contains("decay")) continue;
    EXPECT_NEAR(kept_share(options, static_cast<std::int64_t>(t)),
                c.expect["decay"][t].get<double>(), 1e-12);
  }
}

GOLDEN(optimizers, weight_average) { expect_averages(c); }
GOLDEN(model_ema, weight_average) { expect_averages(c); }

}  // namespace
}  // namespace ddptrain
