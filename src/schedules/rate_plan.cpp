#include "schedules/rate_plan.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "config/complete.h"
#include "recipe/optimizer_options.h"
#include "recipe/recipe.h"
#include "schedules/swa.h"

namespace ddptrain {
namespace {

/// What the recipe's rates are multiplied with: they may be written for another global batch.
double batch_factor(const Recipe& recipe, const RunLength& length) {
  const auto options = common_options(recipe.optimizer);
  if (!options.lr_batch) return 1;
  const auto ratio = static_cast<double>(length.global) / static_cast<double>(*options.lr_batch);
  return options.lr_scaling == LrScaling::sqrt ? std::sqrt(ratio) : ratio;
}

/// The innermost optimizer's options, defaults filled in.
Node optimizer_options(const Recipe& recipe, const Catalogs& catalogs) {
  auto node = complete_component(recipe.optimizer.node(), "optimizer", catalogs);
  for (const Node* inner = node.find("inner"); inner; inner = node.find("inner")) {
    Node next = complete_component(*inner, "optimizer", catalogs);
    node = std::move(next);
  }
  return node;
}

double rate_of(const Node& lr) {
  const auto* number = lr.is_map() ? lr.find("to") : &lr;
  return number ? parse_number(number->text).value_or(0) : 0;
}

/// What a schedule may cycle: `momentum`, where it is not 0, or the first beta.
std::optional<double> momentum_of(const Node& options) {
  const auto* momentum = options.find("momentum");
  if (momentum && momentum->is_scalar()) {
    const auto number = parse_number(momentum->text);
    return number == 0.0 ? std::nullopt : number;
  }
  const auto* betas = options.find("betas");
  if (betas && !betas->items.empty()) return parse_number(betas->items.front().text);
  return {};
}

std::unique_ptr<Schedule> schedule_of(const std::optional<Choice<Schedule>>& written, double from) {
  return written ? catalog<Schedule>().build(*written, ScheduleContext{from, {}}) : nullptr;
}

std::shared_ptr<const RunSchedules> run_schedules(const Recipe& recipe, const RunLength& length,
                                                  const OptimizerRates& optimizer) {
  if (!recipe.momentum_schedule && !recipe.weight_decay_schedule) return nullptr;
  return std::make_shared<RunSchedules>(
      length.total, schedule_of(recipe.momentum_schedule, optimizer.momentum.value_or(0)),
      schedule_of(recipe.weight_decay_schedule, optimizer.weight_decay), optimizer.weight_decay);
}

}  // namespace

RatesAt RateStage::at(std::int64_t step, std::int64_t per_epoch) const {
  const Progress progress{step - first, steps, per_epoch};
  RatesAt rates{step, schedule->lr(progress), schedule->momentum(progress)};
  if (!run) return rates;
  const Progress whole{step, run->steps, per_epoch};
  if (run->momentum) rates.momentum = run->momentum->lr(whole);
  if (run->weight_decay) rates.weight_decay = run->weight_decay->lr(whole);
  return rates;
}

RatesAt RatePlan::at(std::int64_t step) const {
  return stages[stage_index(stages, step)].at(step, per_epoch);
}

std::vector<std::int64_t> stage_steps(const Recipe& recipe, const RunLength& length) {
  std::vector<std::int64_t> steps;
  for (const auto& stage : stages_of(recipe))
    steps.push_back(in_steps(stage.duration, length).value_or(0));
  return steps;
}

RatePlan plan_rates(const Recipe& recipe, const RunLength& length,
                    const OptimizerRates& optimizer) {
  const double factor = batch_factor(recipe, length);
  const auto stages = stages_of(recipe);
  const auto steps = stage_steps(recipe, length);
  const auto run = run_schedules(recipe, length, optimizer);
  RatePlan plan{{}, length.per_epoch};
  std::int64_t first = 0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const double lr = stages[i].lr ? stages[i].lr->to : optimizer.lr;
    plan.stages.push_back(
        {first, steps[i],
         catalog<Schedule>().build(stages[i].schedule,
                                   ScheduleContext{lr * factor, optimizer.momentum}),
         run});
    first += steps[i];
  }
  const auto& swa = recipe.train.swa;
  if (!swa || !swa->lr) return plan;
  auto& schedule = plan.stages.front().schedule;  // the rules leave one stage
  schedule = swa_schedule(std::move(schedule),
                          {*swa->lr * factor, swa->anneal, in_steps(swa->start, length).value(),
                           in_steps(swa->over, length).value()});
  return plan;
}

std::vector<double> spread_rates(std::optional<double> first, double last, std::int64_t groups) {
  std::vector<double> rates(static_cast<std::size_t>(groups), last);
  for (std::int64_t i = 0; i + 1 < groups; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(groups - 1);
    rates[static_cast<std::size_t>(i)] =
        first ? *first * std::pow(last / *first, share) : last / 10;
  }
  return rates;
}

OptimizerRates optimizer_rates(const Recipe& recipe, const Catalogs& catalogs) {
  const auto options = optimizer_options(recipe, catalogs);
  const auto* decay = options.find("weight_decay");
  return {rate_of(*options.find("lr")), momentum_of(options),
          decay ? parse_number(decay->text).value_or(0) : 0};
}

std::vector<RatesAt> rates_over_run(const Recipe& recipe, const RunLength& length,
                                    const Catalogs& catalogs, std::int64_t points) {
  const auto own = optimizer_rates(recipe, catalogs);
  const auto plan = plan_rates(recipe, length, own);
  std::vector<RatesAt> rates;
  const auto last = length.total - 1;
  const auto count = std::min(points, length.total);
  for (std::int64_t i = 0; i < count; ++i) {
    rates.push_back(plan.at(count == 1 ? last : i * last / (count - 1)));
    if (!rates.back().momentum) rates.back().momentum = own.momentum;
  }
  return rates;
}

}  // namespace ddptrain
