// How long a run is, and what happens how often in it.
#include <tuple>

#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

void a_run_is_no_share(const RuleContext& rule) {
  const auto& train = rule.recipe.train;
  if (!train.fine_tune && train.stages.empty() && train.duration.unit == Duration::Unit::share)
    rule.error("train.duration",
               "a run cannot last a share of itself; write for example '5 epochs'");
  for (std::size_t i = 0; i < train.stages.size(); ++i)
    if (train.stages[i].duration.unit == Duration::Unit::share)
      rule.error(indexed("train.stages", i) + ".duration",
                 "a stage has no share of a run that its stages make up; write for example "
                 "'5 epochs'");
}

// A schedule is a function of the step among all steps: a run measured in seconds does not know how
// many there will be.
void a_schedule_knows_the_steps(const RuleContext& rule) {
  const auto& train = rule.recipe.train;
  const bool timed = train.duration.unit == Duration::Unit::seconds;
  if (!timed || train.fine_tune || !train.stages.empty()) return;
  const auto& [schedule, momentum, decay] = std::tie(
      rule.recipe.schedule, rule.recipe.momentum_schedule, rule.recipe.weight_decay_schedule);
  const auto refuse = [&](const std::string& key, const Choice<Schedule>& written) {
    if (written.type() != "constant")
      rule.error(
          "train.duration",
          "{} '{}' needs the number of steps; write epochs, steps or samples, or '{}: constant'",
          key, written.type(), key);
  };
  refuse("schedule", schedule);
  if (momentum) refuse("momentum_schedule", *momentum);
  if (decay) refuse("weight_decay_schedule", *decay);
}

void periods_fit_the_run(const RuleContext& rule) {
  const auto run = whole_run(rule.recipe);
  if (!run) return;
  const auto check = [&](const Duration& every, const std::string& path, const std::string& what) {
    if (is_longer(every, *run) && every != epochs(1))
      rule.warn(path, "'{}' is longer than the run of '{}': {} only at its end", to_text(every),
                to_text(*run), what);
  };
  check(rule.recipe.eval.every, "eval.every", "evaluation comes");
  check(rule.recipe.checkpoint.every, "checkpoint.every", "a checkpoint comes");
}

constexpr Rule kLengthRules[] = {
    {{"duration-share", "A run or stage does not last a share of itself.",
      "A share is a part of the run, whose length this option sets.", "train: {duration: 50 %}",
      "train: {duration: 5 epochs}"},
     a_run_is_no_share},
    {{"schedule-in-seconds", "A schedule wants to know how many steps there will be.",
      "How far a run is, is its step among all steps; a run that is measured in seconds does not "
      "know how many it will make.",
      "train: {duration: 10 min}\nschedule: cosine",
      "train: {duration: 10 min}\nschedule: constant"},
     a_schedule_knows_the_steps},
    {{"period", "Evaluation and checkpoints come before the run ends.",
      "What is due later than the end happens once, at the end.",
      "train: {duration: 5 epochs}\neval: {every: 10 epochs}",
      "train: {duration: 20 epochs}\neval: {every: 10 epochs}"},
     periods_fit_the_run},
};

}  // namespace

std::vector<Rule> length_rules() { return {std::begin(kLengthRules), std::end(kLengthRules)}; }

}  // namespace ddptrain
