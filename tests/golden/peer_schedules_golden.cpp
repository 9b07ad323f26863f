// Schedules of torch, transformers and accelerate as recipes say them.
#include <gtest/gtest.h>

#include <map>

#include "built_schedule.h"
#include "callbacks/callback.h"

namespace ddptrain::golden {
namespace {

using nlohmann::json;

json one_cycle_of_torch(const json& input) {
  json recipe{{"type", "one_cycle"}, {"like", "torch"}};
  const std::map<std::string, std::string> keys{{"pct_start", "pct_start"},
                                                {"anneal_strategy", "anneal"},
                                                {"div_factor", "div"},
                                                {"final_div_factor", "div_final"},
                                                {"three_phase", "three_phase"}};
  for (const auto& [theirs, ours] : keys)
    if (input.contains(theirs)) recipe[ours] = input.at(theirs);
  if (recipe.value("anneal", "") == "cos") recipe["anneal"] = "cosine";
  if (!input.value("cycle_momentum", true)) {
    recipe["moms"] = nullptr;
  } else if (input.contains("max_momentum")) {  // else base_momentum is the optimizer's
    const double top = input.at("max_momentum");
    recipe["moms"] = {top, input.at("base_momentum"), top};
  }
  return recipe;
}

json cyclic_of_torch(const json& input) {
  json recipe{{"type", "cyclic"}, {"min_lr", input.at("base_lr")}};
  recipe["up"] = in_steps(input.value("step_size_up", json(2000)));
  if (input.contains("step_size_down") && !input.at("step_size_down").is_null())
    recipe["down"] = in_steps(input.at("step_size_down"));
  for (const auto* key : {"mode", "gamma"})
    if (input.contains(key)) recipe[key] = input.at(key);
  return recipe;
}

json milestones_of_torch(const json& input) {
  json moments = json::array();
  for (const int step : input.at("milestones"))  // a recipe has no duration of nothing
    moments.push_back(step == 0 ? "1e-9 epochs" : in_steps(step));
  return moments;
}

/// A scheduler of torch.optim.lr_scheduler as a recipe says it.
json recipe_of_torch(const json& input) {
  const std::string rule = input.at("rule");
  if (rule == "one_cycle") return one_cycle_of_torch(input);
  if (rule == "cyclic") return cyclic_of_torch(input);
  json recipe{{"type", rule}};
  if (rule == "step") recipe["every"] = in_steps(input.at("step_size"));
  if (rule == "multi_step") recipe["milestones"] = milestones_of_torch(input);
  if (rule == "exponential") recipe["by"] = "step";
  if (rule == "warmup_cosine") {
    recipe["type"] = "cosine";
    recipe["warmup"] = in_steps(input.at("warmup"));
    recipe["warmup_start"] = input.at("start_factor");
  } else {
    recipe = with_keys(recipe, input, {{"start_factor", "start_factor"}});
  }
  if (input.contains("total")) recipe["over"] = in_steps(input.at("total"));
  if (input.contains("t_max")) recipe["over"] = in_steps(input.at("t_max"));
  if (rule == "cosine_warm_restarts") {
    recipe["type"] = "cosine_restarts";
    recipe["period"] = in_steps(input.at("t_0"));
    recipe["mult"] = input.value("t_mult", json(1));
  }
  return with_keys(recipe, input,
                   {{"gamma", "gamma"},
                    {"power", "power"},
                    {"factor", "factor"},
                    {"end_factor", "end_factor"},
                    {"eta_min", "min_lr"}});
}

/// The rate that the optimizer of a group is given: torch's cyclic rules name it apart.
std::vector<double> torch_rates(const json& input, std::size_t groups) {
  auto rates = numbers(input.value("max_lr", input.at("base_lr")));
  rates.resize(groups, rates.front());
  return rates;
}

/// A function of transformers.optimization as a recipe says it.
json recipe_of_transformers(const json& input) {
  const std::string rule = input.at("rule");
  const std::map<std::string, std::string> types{
      {"constant_warmup", "constant"},     {"cosine_warmup", "cosine"},
      {"inverse_sqrt", "inverse_sqrt"},    {"linear_warmup_decay", "polynomial"},
      {"polynomial_warmup", "polynomial"}, {"wsd", "wsd"}};
  json recipe{{"type", types.at(rule)}};
  const int warmup = input.at("warmup");
  if (warmup > 0) {
    recipe["warmup"] = in_steps(warmup);
    recipe["warmup_start"] = 0;
  }
  if (rule == "cosine_warmup") {
    const double cycles = input.value("cycles", 0.5);
    recipe["over"] = in_steps((input.at("total").get<int>() - warmup) / (2 * cycles));
  }
  if (rule == "polynomial_warmup") recipe["min_lr"] = input.value("lr_end", 1e-7);
  if (rule == "wsd") {
    recipe["stable"] = in_steps(input.at("stable"));
    recipe["decay"] = in_steps(input.at("decay"));
  }
  return with_keys(recipe, input, {{"power", "power"}});
}

/// The warm-up of a function of transformers.optimization, from `start` of the rate.
json with_warmup(json recipe, std::int64_t steps, double start) {
  if (steps == 0) return recipe;
  recipe["warmup"] = in_steps(steps);
  recipe["warmup_start"] = start;
  return recipe;
}

/// Its warm-up ends in its last step, not in the one after it, and the cosine begins there.
json cosine_warmup_rate(json recipe, const json& options) {
  const std::int64_t warmup = options.at("num_warmup_steps");
  const double first = options.value("warmup_lr_rate", 1.0 / static_cast<double>(warmup));
  recipe["type"] = "cosine";
  recipe["over"] = in_steps(options.at("num_training_steps").get<std::int64_t>() - warmup);
  return with_warmup(recipe, warmup - 1, first);
}

json wsd_of_transformers(json recipe, const json& options) {
  recipe["type"] = "wsd";
  recipe["decay"] = in_steps(options.at("num_decay_steps"));
  if (options.contains("num_stable_steps"))
    recipe["stable"] = in_steps(options.at("num_stable_steps"));
  return with_warmup(recipe, options.at("num_warmup_steps"), options.value("min_lr_ratio", 0.0));
}

/// A function of transformers.optimization by its own arguments.
json recipe_of_arguments(const std::string& rule, const json& options) {
  auto recipe = with_keys(json::object(), options,
                          {{"min_lr", "min_lr"},
                           {"min_lr_rate", "min_lr_ratio"},
                           {"min_lr_ratio", "min_lr_ratio"},
                           {"warmup_type", "warmup_type"},
                           {"decay_type", "decay_type"}});
  if (rule == "cosine_warmup_rate") return cosine_warmup_rate(recipe, options);
  if (rule == "wsd") return wsd_of_transformers(recipe, options);
  recipe["type"] = rule == "cosine_min_lr" ? "cosine" : rule;
  if (rule == "cosine_restarts") {
    recipe["mult"] = 1;
    recipe["num_cycles"] = options.value("num_cycles", 1);
  }
  if (options.contains("timescale")) recipe["timescale"] = in_steps(options.at("timescale"));
  return with_warmup(recipe, options.at("num_warmup_steps"), 0);
}

}  // namespace

GOLDEN(schedules, torch_schedule) {
  const auto& expected = c.expect.at("lr");
  const std::int64_t steps = c.input.at("steps");
  const std::size_t groups = expected.at(0).size();
  const auto recipe = recipe_of_torch(c.input);
  std::vector<double> rates, momenta;
  for (std::int64_t step = 0; step < steps; ++step) {
    for (const double lr : torch_rates(c.input, groups)) {
      const auto schedule = built_schedule(recipe, lr);
      rates.push_back(schedule->lr({step, steps, 1}));
      momenta.push_back(schedule->momentum({step, steps, 1}).value_or(0.9));
    }
  }
  expect_close(rates, numbers(expected), 1e-9, 1e-15, "rate");
  if (!c.expect.contains("mom")) return;
  const auto momentum = numbers(c.expect.at("mom"));
  std::vector<double> ours;
  const std::size_t stride = momenta.size() / momentum.size();
  for (std::size_t i = 0; i < momenta.size(); i += stride) ours.push_back(momenta[i]);
  expect_close(ours, momentum, 1e-9, 1e-15, "momentum");
}

GOLDEN(schedules, transformers_schedule) {
  const std::int64_t steps = c.input.at("steps"), total = c.input.at("total");
  const auto schedule =
      built_schedule(recipe_of_transformers(c.input), numbers(c.input.at("base_lr")).front());
  std::vector<double> rates;
  for (std::int64_t step = 0; step < steps; ++step) rates.push_back(schedule->lr({step, total, 1}));
  expect_close(rates, numbers(c.expect.at("lr")), 1e-9, 1e-15, "rate");
}

GOLDEN(language_models, schedule) {
  const auto& options = c.input.at("options");
  const std::int64_t steps = c.input.at("steps");
  const auto total = options.value("num_training_steps", steps);
  const auto schedule =
      built_schedule(recipe_of_arguments(c.input.at("rule"), options), c.input.at("base_lr"));
  std::vector<double> rates;
  for (std::int64_t step = 0; step < steps; ++step) rates.push_back(schedule->lr({step, total, 1}));
  expect_close(rates, numbers(c.expect.at("lr")), 1e-12, 1e-15, "rate");
}

/// One callback for each group, which sees its rate.
GOLDEN(schedules, torch_plateau) {
  const auto recipe =
      with_keys({{"type", "reduce_lr_on_plateau"}, {"metric", "watched"}, {"mode", "min"}}, c.input,
                {{"mode", "mode"},
                 {"factor", "factor"},
                 {"patience", "patience"},
                 {"threshold", "threshold"},
                 {"threshold_mode", "threshold_mode"},
                 {"cooldown", "cooldown"},
                 {"min_lr", "min_lr"},
                 {"eps", "eps"}});
  const auto base = numbers(c.input.at("base_lr"));
  const auto metric = numbers(c.input.at("metric"));
  for (std::size_t g = 0; g < base.size(); ++g) {
    const auto callback = catalog<Callback>().build(fragment<Callback>(recipe));
    RunControl control;
    for (std::size_t i = 0; i < metric.size(); ++i) {
      RunView run;
      run.lr = base[g] * control.lr_factor;
      run.metrics = {{"valid/watched", metric[i]}};
      callback->at(Moment::evaluated, run, control);
      const double wanted = c.expect.at("lr_after").at(i).at(g);
      ASSERT_NEAR(base[g] * control.lr_factor, wanted, 1e-9 * wanted) << "evaluation " << i;
    }
    const auto state = json::parse(callback->state());
    EXPECT_EQ(state.at("bad"), c.expect.value("bad_epochs_at_end", state.at("bad")));
    EXPECT_EQ(state.at("best"), c.expect.value("best", state.at("best")));
  }
}

/// The rate advances once for each optimizer step, whatever the number of processes.
GOLDEN(schedules, accelerate_schedule) {
  const std::string lambda = c.input.at("lambda");
  ASSERT_EQ(lambda.rfind("1 - n/", 0), 0U) << lambda;
  const auto recipe = json{{"type", "linear"}, {"over", in_steps(std::stoi(lambda.substr(6)))}};
  const auto schedule = built_schedule(recipe, c.input.at("base_lr"));
  std::vector<double> rates;
  for (std::size_t step = 0; step < c.expect.at("wanted_lr").size(); ++step)
    rates.push_back(schedule->lr({static_cast<std::int64_t>(step), 100, 100}));
  expect_close(rates, numbers(c.expect.at("wanted_lr")), 1e-9, 1e-12, "rate");
}

}  // namespace ddptrain::golden
