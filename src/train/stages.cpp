#include "train/stages.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "config/decode.h"
#include "distributed/engine.h"
#include "recipe/optimizer_options.h"
#include "train/catalogs.h"
#include "train/run_state.h"
#include "train/training.h"

namespace ddptrain {
namespace {

/// What each layer group has of the last one's rate; empty where all have the same.
std::vector<double> shares(const LearningRate& lr, std::size_t groups) {
  if (groups < 2 || lr.to == 0 || (!lr.from && !lr.others)) return {};
  auto rates = spread_rates(lr.from, lr.to, static_cast<std::int64_t>(groups));
  if (!lr.from) std::fill(rates.begin(), rates.end() - 1, *lr.others);
  for (auto& rate : rates) rate /= lr.to;
  return rates;
}

std::string what_trains(const Training& t, const TrainingStage& stage) {
  const auto all = static_cast<std::int64_t>(t.engine->model().named_parameters().size());
  const auto frozen = static_cast<std::int64_t>(stage.frozen.parameters.size());
  return fmt::format("{} of {} train", all - frozen, plural(all, "parameter"));
}

}  // namespace

std::vector<TrainingStage> build_stages(const StageSource& from, const LayerGroups& groups) {
  const auto plan = stages_of(from.recipe);
  const auto common = common_options(from.recipe.optimizer);
  const auto decay = optimizer_rates(from.recipe, all_catalogs()).weight_decay;
  auto rates =
      plan_rates(from.recipe, from.length, {from.optimizer.lr(), from.optimizer.momentum(), decay});
  std::vector<TrainingStage> stages;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    auto lr = plan[i].lr.value_or(common.lr);
    if (!plan[i].lr) lr.to = from.optimizer.lr();  // its default, where the recipe writes none
    TrainingStage stage;
    static_cast<RateStage&>(stage) = std::move(rates.stages[i]);
    stage.shares = shares(lr, groups.size());
    stage.frozen =
        frozen_before(from.model, groups, plan[i].freeze.freeze_to, plan[i].freeze.train_bn);
    stage.frozen.statistics = plan[i].freeze.bn_freeze;
    stage.resets_optimizer = plan[i].reset_optimizer;
    stages.push_back(std::move(stage));
  }
  return stages;
}

std::int64_t enter_stage(Training& t, std::int64_t step, std::int64_t before) {
  const auto index = static_cast<std::int64_t>(stage_index(t.stages, step));
  if (index == before) return index;
  const auto& stage = t.stages[static_cast<std::size_t>(index)];
  const bool ever_frozen = std::any_of(t.stages.begin(), t.stages.end(), [](const auto& each) {
    return !each.frozen.parameters.empty();
  });
  if (ever_frozen) t.engine->freeze(stage.frozen);
  if (t.stages.size() > 1 || ever_frozen)
    log::info("stage {} of {}, {}: {}", index + 1, t.stages.size(), plural(stage.steps, "step"),
              what_trains(t, stage));
  // A run that is resumed later in the stage has the state that was built up since.
  if (stage.resets_optimizer && stage.first == step && stage.first > 0) {
    t.optimizer->load({});
    log::info("the optimizer's state is reset");
  }
  return index;
}

bool begins_stage(const Training& t, std::int64_t step) {
  return std::ranges::any_of(t.stages, [&](const auto& stage) { return stage.first == step; });
}

Rates rates_of(const Training& t, const RunState& state) {
  return rates_of(t, state, state.position.step);
}

Rates rates_of(const Training& t, const RunState& state, std::int64_t step) {
  const auto& stage = t.stages.at(stage_index(t.stages, step));
  const auto at = stage.at(step, t.length.per_epoch);
  Rates rates{at.lr * state.lr_factor, at.momentum, stage.shares};
  rates.weight_decay = at.weight_decay;
  if (at.weight_decay) rates.decay_share = *at.weight_decay / stage.run->own_decay;
  return rates;
}

}  // namespace ddptrain
