// Runs in stages, rates of layer groups, and what is frozen.
#include "config/decode.h"
#include "recipe/rules.h"

namespace ddptrain {
namespace {

void a_stage_is_counted(const RuleContext& rule) {
  const auto& stages = rule.recipe.train.stages;
  for (std::size_t i = 0; i < stages.size(); ++i)
    if (stages[i].duration.unit == Duration::Unit::seconds)
      rule.error(indexed("train.stages", i) + ".duration",
                 "a stage begins after a number of steps; write epochs, steps or samples");
}

void stages_are_said_once(const RuleContext& rule) {
  if (rule.recipe.train.fine_tune && !rule.recipe.train.stages.empty())
    rule.error("train.fine_tune", "it is two stages by itself; write one or the other");
}

void the_run_is_said_once(const RuleContext& rule) {
  const auto& train = rule.recipe.train;
  if (!train.fine_tune && train.stages.empty()) return;
  const std::string by = train.fine_tune ? "'train.fine_tune'" : "'train.stages'";
  if (train.duration != TrainSpec{}.duration)
    rule.warn("train.duration", by + " says how long the run lasts");
  if (train.freeze.freeze_to != 0) rule.warn("train.freeze_to", by + " says what is frozen");
  if (train.fine_tune && rule.recipe.schedule.type() != "constant")
    rule.warn("schedule", by + " has schedules of its own");
  if (train.fine_tune && rule.is_asked(rule.recipe.optimizer, "lr"))
    rule.warn("optimizer.lr", "'train.fine_tune.base_lr' says what the rates are");
}

void a_rate_is_said_once(const RuleContext& rule) {
  const auto check = [&](const LearningRate& lr, const std::string& path) {
    if (lr.from && lr.others)
      rule.error(path,
                 "'from' makes a row over the layer groups, 'others' one rate for all but the "
                 "last; write one of them");
  };
  const auto* lr = rule.recipe.optimizer.node().find("lr");
  if (lr && lr->is_map()) check(decode<LearningRate>(*lr), "optimizer.lr");
  const auto& stages = rule.recipe.train.stages;
  for (std::size_t i = 0; i < stages.size(); ++i)
    if (stages[i].lr) check(*stages[i].lr, indexed("train.stages", i) + ".lr");
}

void frozen_norms_keep_statistics(const RuleContext& rule) {
  const auto check = [&](const FreezeSpec& freeze, const std::string& path) {
    if (freeze.bn_freeze && freeze.train_bn)
      rule.warn(path + ".bn_freeze", "batch norms train here; write 'train_bn: false' as well");
  };
  check(rule.recipe.train.freeze, "train");
  const auto& stages = rule.recipe.train.stages;
  for (std::size_t i = 0; i < stages.size(); ++i)
    check(stages[i].freeze, indexed("train.stages", i));
}

}  // namespace

std::vector<Rule> stage_rules() {
  return {
      {{"stage-in-seconds", "A stage lasts a number of steps, samples or epochs.",
        "A resumed run finds its stage by its step, so where one begins is a number of steps.",
        "train: {stages: [{duration: 10 min}]}", "train: {stages: [{duration: 5 epochs}]}"},
       a_stage_is_counted},
      {{"fine-tune-and-stages", "train.fine_tune and train.stages exclude each other.",
        "fine_tune is two stages by itself, so both say what the run is made of.",
        "train: {fine_tune: {epochs: 3}, stages: [{duration: 2 epochs}]}",
        "train: {fine_tune: {epochs: 3}}"},
       stages_are_said_once},
      {{"overruled", "What the stages of a run say is not said elsewhere.",
        "train.fine_tune and train.stages make up the run: its length, what is frozen, and for "
        "fine_tune schedule and rates, whatever these keys say.",
        "train: {fine_tune: {epochs: 3}}\nschedule: cosine", "train: {fine_tune: {epochs: 3}}"},
       the_run_is_said_once},
      {{"lr-from-and-others", "A learning rate has 'from' or 'others', not both.",
        "'from' makes a geometric row over the layer groups, 'others' gives all but the last one "
        "rate.",
        "optimizer: {lr: {to: 0.1, from: 0.01, others: 0.02}}",
        "optimizer: {lr: {to: 0.1, from: 0.01}}"},
       a_rate_is_said_once},
      {{"bn-freeze", "bn_freeze wants 'train_bn: false'.",
        "Only batch norms whose parameters are frozen keep their statistics, and with train_bn "
        "those of frozen groups train.",
        "train: {freeze_to: -1, bn_freeze: true}",
        "train: {freeze_to: -1, bn_freeze: true, train_bn: false}"},
       frozen_norms_keep_statistics},
  };
}

}  // namespace ddptrain
