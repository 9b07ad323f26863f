#include "train/stages.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "config/decode.h"
#include "recipe/optimizer_options.h"
#include "schedules/spread.h"

namespace ddptrain {
namespace {

/// What the recipe's rates are multiplied with: they may be written for another global batch.
double batch_factor(const Training& t, const OptimizerCommon& common) {
  if (!common.lr_batch) return 1;
  return static_cast<double>(t.placement.batch.global) / static_cast<double>(*common.lr_batch);
}

/// What each layer group has of the last one's rate; empty where all have the same.
std::vector<double> shares(const LearningRate& lr, std::size_t groups) {
  if (groups < 2 || lr.to == 0 || (!lr.from && !lr.others)) return {};
  auto rates = spread_rates(lr.from, lr.to, static_cast<std::int64_t>(groups));
  if (!lr.from) std::fill(rates.begin(), rates.end() - 1, *lr.others);
  for (auto& rate : rates) rate /= lr.to;
  return rates;
}

std::int64_t index_at(const Training& t, std::int64_t step) {
  std::int64_t index = 0;
  for (std::size_t i = 1; i < t.stages.size(); ++i)
    if (step >= t.stages[i].first) index = static_cast<std::int64_t>(i);
  return index;
}

const TrainingStage& stage_at(const Training& t, std::int64_t step) {
  return t.stages.at(static_cast<std::size_t>(index_at(t, step)));
}

std::string what_trains(const Training& t, const TrainingStage& stage) {
  const auto all = static_cast<std::int64_t>(t.engine->model().named_parameters().size());
  const auto frozen = static_cast<std::int64_t>(stage.frozen.parameters.size());
  return std::to_string(all - frozen) + " of " + plural(all, "parameter") + " train";
}

}  // namespace

std::vector<std::int64_t> stage_steps(const Recipe& recipe, const RunLength& length) {
  std::vector<std::int64_t> steps;
  for (const auto& stage : stages_of(recipe))
    steps.push_back(in_steps(stage.duration, length).value_or(0));
  return steps;
}

std::vector<TrainingStage> build_stages(const Training& t, const LayerGroups& groups) {
  const auto plan = stages_of(t.recipe);
  const auto steps = stage_steps(t.recipe, t.length);
  const auto common = common_options(t.recipe.optimizer);
  std::vector<TrainingStage> stages;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    auto lr = plan[i].lr.value_or(common.lr);
    if (!plan[i].lr) lr.to = t.optimizer->lr();  // its default, where the recipe writes none
    TrainingStage stage;
    stage.first = first;
    stage.steps = steps[i];
    stage.shares = shares(lr, groups.size());
    stage.schedule = catalog<Schedule>().build(
        plan[i].schedule,
        ScheduleContext{lr.to * batch_factor(t, common), t.optimizer->momentum()});
    stage.frozen =
        frozen_before(t.engine->model(), groups, plan[i].freeze.freeze_to, plan[i].freeze.train_bn);
    stage.frozen.statistics = plan[i].freeze.bn_freeze;
    stage.resets_optimizer = plan[i].reset_optimizer;
    stages.push_back(std::move(stage));
    first += steps[i];
  }
  return stages;
}

void enter_stage(Training& t) {
  const auto index = index_at(t, t.position.step);
  if (index == t.stage) return;
  const auto& stage = t.stages[static_cast<std::size_t>(index)];
  const bool ever_frozen = std::any_of(t.stages.begin(), t.stages.end(), [](const auto& each) {
    return !each.frozen.parameters.empty();
  });
  if (ever_frozen) t.engine->freeze(stage.frozen);
  if (t.stages.size() > 1 || ever_frozen)
    log::info("stage " + std::to_string(index + 1) + " of " + std::to_string(t.stages.size()) +
              ", " + plural(stage.steps, "step") + ": " + what_trains(t, stage));
  // A run that is resumed later in the stage has the state that was built up since.
  if (stage.resets_optimizer && stage.first == t.position.step && stage.first > 0) {
    t.optimizer->load({});
    log::info("the optimiser's state starts anew");
  }
  t.stage = index;
}

Rates rates_of(const Training& t) {
  const auto& stage = stage_at(t, t.position.step);
  const Progress at{t.position.step - stage.first, stage.steps, t.length.per_epoch};
  return {stage.schedule->lr(at) * t.control.lr_factor, stage.schedule->momentum(at), stage.shares};
}

}  // namespace ddptrain
