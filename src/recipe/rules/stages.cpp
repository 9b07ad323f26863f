// Runs in stages, rates of layer groups, and what is frozen.

#include "base/text.h"
#include "config/decode.h"
#include "recipe/rules/rules.h"

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
    rule.warn("train.duration", "{} says how long the run lasts", by);
  if (train.freeze.freeze_to != 0) rule.warn("train.freeze_to", "{} says what is frozen", by);
  if (!train.stages.empty() && (train.freeze.bn_freeze || !train.freeze.train_bn))
    rule.warn(train.freeze.bn_freeze ? "train.bn_freeze" : "train.train_bn",
              "{} says what is frozen", by);
  if (train.fine_tune && rule.recipe.schedule.type() != "constant")
    rule.warn("schedule", "{} has schedules of its own", by);
  const auto [optimizer, path] = inner_optimizer(rule.recipe);
  if (train.fine_tune && rule.is_asked(optimizer, "lr"))
    rule.warn(path + ".lr", "'train.fine_tune.base_lr' says what the rates are");
}

void a_rate_is_said_once(const RuleContext& rule) {
  const auto check = [&](const LearningRate& lr, const std::string& path) {
    if (lr.from && lr.others)
      rule.error(path,
                 "'from' makes a row over the layer groups, 'others' one rate for all but the "
                 "last; write one of them");
  };
  for (const auto& [optimizer, path] : nested(rule, rule.recipe.optimizer, "optimizer"))
    if (const auto* lr = optimizer.node().find("lr"); lr && lr->is_map())
      check(decode<LearningRate>(*lr), path + ".lr");
  const auto& stages = rule.recipe.train.stages;
  for (std::size_t i = 0; i < stages.size(); ++i)
    if (stages[i].lr) check(*stages[i].lr, indexed("train.stages", i) + ".lr");
}

/// What is frozen, and where the recipe says it.
struct WrittenFreeze {
  std::string path;
  FreezeSpec freeze;
};

std::vector<WrittenFreeze> written_freezes(const TrainSpec& train) {
  if (train.stages.empty()) return {{"train", train.freeze}};
  std::vector<WrittenFreeze> all;
  for (std::size_t i = 0; i < train.stages.size(); ++i)
    all.push_back({indexed("train.stages", i), train.stages[i].freeze});
  return all;
}

void frozen_norms_keep_statistics(const RuleContext& rule) {
  for (const auto& [path, freeze] : written_freezes(rule.recipe.train))
    if (freeze.bn_freeze && freeze.train_bn)
      rule.warn(path + ".bn_freeze", "batch norms train here; write 'train_bn: false' as well");
}

void something_is_frozen(const RuleContext& rule) {
  if (rule.recipe.train.fine_tune) return;  // it freezes by itself
  for (const auto& [path, freeze] : written_freezes(rule.recipe.train))
    if (!freeze.train_bn && freeze.freeze_to == 0)
      rule.warn(path + ".train_bn", "nothing is frozen here; freeze_to says what is");
}

void something_trains(const RuleContext& rule) {
  const auto groups = items_of(rule.value(rule.recipe.model, "layer_groups")).size();
  const auto count = static_cast<std::int64_t>(groups);
  if (count == 0 || rule.recipe.train.fine_tune) return;
  for (const auto& [path, freeze] : written_freezes(rule.recipe.train))
    if (freeze.freeze_to >= count || freeze.freeze_to < -count)
      rule.error(path + ".freeze_to", "{}, and model.layer_groups has {}", freeze.freeze_to,
                 plural(count, "layer group"));
}

void there_is_a_state_to_reset(const RuleContext& rule) {
  const auto& stages = rule.recipe.train.stages;
  if (!stages.empty() && stages.front().reset_optimizer)
    rule.warn("train.stages[0].reset_optimizer", "a run begins with a new optimizer anyway");
}

constexpr Rule kStageRules[] = {
    {{"stage-in-seconds", "A stage lasts a number of steps, samples or epochs.",
      "A resumed run finds its stage by its step, so where one begins is a number of steps.",
      "train: {stages: [{duration: 10 min}]}", "train: {stages: [{duration: 5 epochs}]}"},
     a_stage_is_counted},
    {{"fine-tune-and-stages", "train.fine_tune and train.stages exclude each other.",
      "fine_tune is two stages by itself, so both say what the run is made of.",
      "train: {fine_tune: {epochs: 3}, stages: [{duration: 2 epochs}]}",
      "train: {fine_tune: {epochs: 3}}"},
     stages_are_said_once},
    {{"overruled", "Options that the stages of a run set are not set elsewhere.",
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
    {{"train-bn", "train_bn says what becomes of the norms of frozen groups.",
      "Where nothing is frozen every norm trains, whatever it says.", "train: {train_bn: false}",
      "train: {train_bn: false, freeze_to: -1}"},
     something_is_frozen},
    {{"freeze-to", "freeze_to leaves a layer group to train.",
      "It counts the groups of model.layer_groups from 0, or from the last as -1.",
      "model: {layer_groups: [['conv*', 'bn*', 'layer*'], ['fc*']]}\ntrain: {freeze_to: 2}",
      "model: {layer_groups: [['conv*', 'bn*', 'layer*'], ['fc*']]}\ntrain: {freeze_to: 1}"},
     something_trains},
    {{"reset-optimizer", "The first stage has no state of the optimizer to reset.",
      "A run begins with a new one.",
      "train: {stages: [{duration: 5 epochs, reset_optimizer: true}]}",
      "train: {stages: [{duration: 5 epochs}]}"},
     there_is_a_state_to_reset},
};

}  // namespace

std::vector<Rule> stage_rules() { return {std::begin(kStageRules), std::end(kStageRules)}; }

}  // namespace ddptrain
