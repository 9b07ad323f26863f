// Learning rate and momentum at every step against fastai, torch, transformers and accelerate.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "built_schedule.h"
#include "callbacks/callback.h"
#include "config/decode.h"
#include "optim/groups.h"
#include "optim/lr_finder.h"
#include "schedules/rate_plan.h"
#include "support/training_parts.h"

namespace ddptrain::golden {
namespace {

using nlohmann::json;

/// Positions in 0 .. 1 as steps of a run of 10000.
std::vector<double> at_positions(const Schedule& schedule, const json& positions) {
  std::vector<double> values;
  for (const double position : numbers(positions))
    values.push_back(schedule.lr({std::llround(position * 10000), 10000, 10000}));
  return values;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

/// fastai's numbers carry float32 noise relative to the largest rate of a case.
void expect_fastai(const std::vector<double>& actual, const json& expected,
                   const std::string& what) {
  const auto values = numbers(expected);
  expect_close(actual, values, 0, 2e-6 * largest(values), what);
}

/// One of fastai's functions from `start` to `end`, as a part of a combined schedule.
json part(const std::string& function, const json& start, const json& end, double share) {
  json made{{"curve", function}, {"start", start}, {"end", end}, {"share", share}};
  if (function.rfind("poly", 0) == 0) {
    made["curve"] = "polynomial";
    made["power"] = std::stod(function.substr(4));
  }
  return made;
}

json combined(const json& parts) { return {{"type", "combined"}, {"parts", parts}}; }

/// The rates of a case's groups: one for all, or fastai's slice.
std::vector<double> group_rates(const json& input) {
  const auto& lr = input.at("lr");
  const std::int64_t groups = input.at("groups");
  if (!lr.is_object())
    return std::vector<double>(static_cast<std::size_t>(groups), lr.get<double>());
  const auto& slice = lr.at("slice");
  const auto first =
      slice[0].is_null() ? std::nullopt : std::optional<double>(slice[0].get<double>());
  return spread_rates(first, slice[1], groups);
}

/// A fit: rates and momentum of all groups at every step.
void expect_fit(const Case& c, const json& recipe) {
  const auto& fit = c.expect.at("fits").at(0);
  const std::int64_t total = fit.at("steps");
  const std::int64_t per_epoch = c.input.at("steps_per_epoch");
  const double own = fit.at("mom").at(0).at(0);
  std::vector<double> rates, momenta;
  for (std::int64_t step = 0; step < total; ++step) {
    for (const double lr : group_rates(c.input)) {
      const auto schedule = built_schedule(recipe, lr, own);
      rates.push_back(schedule->lr({step, total, per_epoch}));
      momenta.push_back(schedule->momentum({step, total, per_epoch}).value_or(own));
    }
  }
  expect_fastai(rates, fit.at("lr"), "rate");
  expect_fastai(momenta, fit.at("mom"), "momentum");
}

}  // namespace

GOLDEN(schedules, fastai_anneal) {
  const auto& in = c.input;
  const auto recipe =
      combined(json::array({part(in.at("function"), in.at("start"), in.at("end"), 1)}));
  expect_fastai(at_positions(*built_schedule(recipe, 1), in.at("positions")), c.expect.at("values"),
                "value");
}

GOLDEN(schedules, fastai_combined_cos) {
  const auto& in = c.input;
  const double pct = in.at("pct");
  const auto recipe = combined({part("cosine", in.at("start"), in.at("middle"), pct),
                                part("cosine", in.at("middle"), in.at("end"), 1 - pct)});
  expect_fastai(at_positions(*built_schedule(recipe, 1), in.at("positions")), c.expect.at("values"),
                "value");
}

GOLDEN(schedules, fastai_combine) {
  json parts = json::array();
  for (std::size_t i = 0; i < c.input.at("parts").size(); ++i) {
    const auto& each = c.input.at("parts").at(i);
    parts.push_back(
        part(each.at("function"), each.at("start"), each.at("end"), c.input.at("shares").at(i)));
  }
  const auto schedule = built_schedule(combined(parts), 1);
  expect_fastai(at_positions(*schedule, c.input.at("positions")), c.expect.at("values"), "value");
}

GOLDEN(schedules, fastai_fit) { expect_fit(c, "constant"); }

GOLDEN(schedules, fastai_fit_one_cycle) {
  expect_fit(c, with_keys({{"type", "one_cycle"}}, c.input,
                          {{"pct_start", "pct_start"},
                           {"div", "div"},
                           {"div_final", "div_final"},
                           {"moms", "moms"}}));
}

GOLDEN(schedules, fastai_fit_flat_cos) {
  expect_fit(c, with_keys({{"type", "flat_cosine"}}, c.input,
                          {{"pct_start", "flat"}, {"div_final", "div_final"}}));
}

GOLDEN(schedules, fastai_fit_sgdr) {
  const auto epochs = std::to_string(c.input.at("cycle_len").get<int>()) + " epochs";
  expect_fit(c, {{"type", "cosine_restarts"},
                 {"like", "fastai"},
                 {"period", epochs},
                 {"mult", c.input.value("cycle_mult", 2)}});
}

/// A Training that has what its stages are made of: a model of as many layer groups, an optimizer.
Training fine_tuning(const Case& c) {
  Training t;
  json layers = json::array();
  for (std::int64_t i = 0; i < c.input.at("groups"); ++i)
    layers.push_back({{"type", "linear"}, {"in", 2}, {"out", 2}});
  const json recipe{{"type", "sequential"}, {"input", {2}}, {"layers", layers}};
  t.engine = make_single_engine(
      [&] { return catalog<Model>().build(fragment<Model>(recipe), ModelContext{}); },
      EngineOptions{});
  t.recipe.optimizer = fragment<Optimizer>({{"type", "adam"}, {"betas", {0.95, 0.99}}});
  t.optimizer =
      catalog<Optimizer>().build(t.recipe.optimizer, group_parameters(t.engine->model(), {}));
  json spec{{"epochs", c.input.at("epochs")}};
  for (const auto* key : {"freeze_epochs", "base_lr", "lr_mult", "pct_start", "div"})
    if (c.input.contains(key)) spec[key] = c.input.at(key);
  t.recipe.train.fine_tune = decode<FineTuneSpec>(to_node(spec));
  t.length.per_epoch = c.input.at("steps_per_epoch");
  return t;
}

GOLDEN(schedules, fastai_fine_tune) {
  auto t = fine_tuning(c);
  std::vector<std::vector<std::string>> patterns;
  for (std::int64_t i = 0; i < c.input.at("groups"); ++i)
    patterns.push_back({std::to_string(i) + ".*"});
  t.stages = build_stages({t.recipe, t.length, *t.optimizer, t.engine->model()},
                          layer_groups(t.engine->model(), patterns));
  const auto& fits = c.expect.at("fits");
  ASSERT_EQ(t.stages.size(), fits.size());
  RunState state;
  for (const auto& fit : fits) {
    std::vector<double> rates, momenta;
    for (std::int64_t step = 0; step < fit.at("steps"); ++step, ++state.position.step) {
      const auto now = rates_of(t, state);
      for (std::size_t g = 0; g < patterns.size(); ++g) {
        rates.push_back(now.of({"", {}, 1, 1, g}));
        momenta.push_back(now.momentum.value());
      }
    }
    expect_fastai(rates, fit.at("lr"), "rate");
    expect_fastai(momenta, fit.at("mom"), "momentum");
  }
}

GOLDEN(schedules, fastai_lr_find) {
  const std::int64_t steps = c.input.at("iterations");
  const auto schedule =
      lr_finder_schedule({.start = c.input.at("start"), .end = c.input.at("end"), .steps = steps});
  std::vector<double> rates;
  for (std::int64_t step = 0; step < steps; ++step) rates.push_back(schedule->lr({step, steps, 7}));
  expect_fastai(rates, c.expect.at("lr"), "rate");
}

GOLDEN(schedules, fastai_lr_find_suggest) {
  const auto found = suggest_rates({numbers(c.input.at("lr")), numbers(c.input.at("loss"))});
  const std::map<std::string, std::optional<double>> ours{{"valley", found.valley},
                                                          {"slide", found.slide},
                                                          {"minimum", found.minimum},
                                                          {"steep", found.steep}};
  for (const auto& [name, rate] : ours) {
    ASSERT_TRUE(rate) << name;
    const double wanted = c.expect.at(name);
    EXPECT_NEAR(*rate, wanted, 2e-6 * wanted) << name;
  }
}

}  // namespace ddptrain::golden
