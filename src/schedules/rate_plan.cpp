#include "schedules/rate_plan.h"

#include "recipe/optimizer_options.h"
#include "recipe/recipe.h"
#include "schedules/swa.h"

namespace ddptrain {
namespace {

/// What the recipe's rates are multiplied with: they may be written for another global batch.
double batch_factor(const Recipe& recipe, const RunLength& length) {
  const auto written_for = common_options(recipe.optimizer).lr_batch;
  if (!written_for) return 1;
  return static_cast<double>(length.global) / static_cast<double>(*written_for);
}

}  // namespace

RatesAt RateStage::at(std::int64_t step, std::int64_t per_epoch) const {
  const Progress progress{step - first, steps, per_epoch};
  return {step, schedule->lr(progress), schedule->momentum(progress)};
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
                    const ScheduleContext& optimizer) {
  const double factor = batch_factor(recipe, length);
  const auto stages = stages_of(recipe);
  const auto steps = stage_steps(recipe, length);
  RatePlan plan{{}, length.per_epoch};
  std::int64_t first = 0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const double lr = stages[i].lr ? stages[i].lr->to : optimizer.lr;
    plan.stages.push_back(
        {first, steps[i],
         catalog<Schedule>().build(stages[i].schedule,
                                   ScheduleContext{lr * factor, optimizer.momentum})});
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

}  // namespace ddptrain
