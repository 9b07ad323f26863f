// Schedules against the run, its stages and the optimizer.
#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "recipe/rules/rules.h"
#include "recipe/rules/written_schedules.h"

namespace ddptrain {
namespace {

void warmup_fits_the_run(const RuleContext& rule) {
  for (const auto& [path, choice, run, whole] : written_schedules(rule.recipe)) {
    const auto* warmup = rule.value(*choice, "warmup");
    const auto length = duration_of(warmup);
    if (length && is_longer(*length, run))
      rule.error(path + ".warmup", "'{}' of warm-up is longer than the {} of '{}'",
                 to_text(*length), whole ? "run" : "stage", to_text(run));
  }
}

/// Whether a schedule moves the momentum, and that was asked for.
struct Cycle {
  bool there = false;
  bool asked = false;
};

Cycle cycle_of(const RuleContext& rule, const ChoiceBase& schedule) {
  const auto* moms = schedule.node().find("moms");
  const bool there = rule.has(schedule, "momentum") && !(moms && moms->is_null());
  return {there, there && rule.is_asked(schedule, "moms")};
}

void momentum_is_there_to_cycle(const RuleContext& rule) {
  const auto [optimizer, where] = inner_optimizer(rule.recipe);
  if (!rule.entry(optimizer)) return;
  const bool none = !rule.has(optimizer, "momentum");
  const bool zero = number_of(rule.value(optimizer, "momentum")) == 0;
  for (const auto& [path, choice, run, whole] : rate_schedules(rule.recipe)) {
    const auto cycle = cycle_of(rule, *choice);
    if (cycle.there && none)
      rule.warn(path, "'{}' cycles momentum, and '{}' has none", choice->type(), optimizer.type());
    else if (cycle.asked && zero)
      rule.warn(path + ".moms", "there is no momentum to cycle: '{}.momentum' is 0", where);
  }
}

/// What a schedule of momentum finds in its way; empty: nothing.
std::string obstacle_to_momentum(const RuleContext& rule) {
  const auto [optimizer, where] = inner_optimizer(rule.recipe);
  if (!rule.entry(optimizer)) return {};
  if (!rule.has(optimizer, "momentum")) return "'" + optimizer.type() + "' has no momentum";
  if (number_of(rule.value(optimizer, "momentum")) == 0) return "'" + where + ".momentum' is 0";
  if (rule.recipe.train.fine_tune) return "train.fine_tune cycles the momentum";
  for (const auto& schedule : rate_schedules(rule.recipe))
    if (cycle_of(rule, *schedule.choice).there)
      return fmt::format("'{}' cycles the momentum; 'moms: null' leaves it alone", schedule.path);
  return {};
}

void there_is_something_to_schedule(const RuleContext& rule) {
  const auto [optimizer, where] = inner_optimizer(rule.recipe);
  if (rule.recipe.weight_decay_schedule &&
      number_of(rule.value(optimizer, "weight_decay")).value_or(0) == 0)
    rule.error("weight_decay_schedule",
               "there is no weight decay to begin with: '{}.weight_decay' is 0", where);
  if (!rule.recipe.momentum_schedule) return;
  if (const auto why = obstacle_to_momentum(rule); !why.empty())
    rule.error("momentum_schedule", why);
}

void check_reached(const RuleContext& rule, const WrittenSchedule& schedule,
                   const std::string& path, const Node* value) {
  const auto at = duration_of(value);
  if (at && part_of(*at, schedule.run).value_or(0) >= 1)
    rule.warn(path, "the {} of '{}' is over by then: the rate does not change",
              schedule.whole ? "run" : "stage", to_text(schedule.run));
}

void milestones_are_reached(const RuleContext& rule) {
  for (const auto& schedule : written_schedules(rule.recipe)) {
    check_reached(rule, schedule, schedule.path + ".every", rule.value(*schedule.choice, "every"));
    const auto milestones = items_of(rule.value(*schedule.choice, "milestones"));
    for (std::size_t i = 0; i < milestones.size(); ++i)
      check_reached(rule, schedule, indexed(schedule.path + ".milestones", i), milestones[i]);
  }
}

void the_decay_fits_the_run(const RuleContext& rule) {
  for (const auto& [path, choice, run, whole] : written_schedules(rule.recipe)) {
    const auto decay = duration_of(rule.value(*choice, "decay"));
    const auto stable = duration_of(rule.value(*choice, "stable"));
    if (!decay) continue;
    const double before = stable ? part_of(*stable, run).value_or(0) : 0;
    if (before + part_of(*decay, run).value_or(0) > 1 + 1e-9)
      rule.warn(path + ".decay", "{} of '{}' ends before the decay does",
                whole ? "the run" : "the stage", to_text(run));
  }
}

void the_floor_is_below_the_rate(const RuleContext& rule) {
  const auto lr = rate_of(rule);
  for (const auto& [path, choice, run, whole] : rate_schedules(rule.recipe)) {
    const auto floor = number_of(rule.value(*choice, "min_lr"));
    if (whole && floor && lr && *floor > *lr)
      rule.error(path + ".min_lr", "{} is above optimizer.lr, {}: the rate would rise",
                 format_number(*floor), format_number(*lr));
  }
}

double sum_of_shares(const std::vector<const Node*>& parts) {
  double sum = 0;
  for (const auto* part : parts) {
    Share share;
    std::string why;
    const auto* value = part->find("share");
    if (value && parse(*value, share, why)) sum += share.value;
  }
  return sum;
}

void parts_make_the_whole(const RuleContext& rule) {
  for (const auto& [path, choice, run, whole] : written_schedules(rule.recipe)) {
    const auto parts = items_of(rule.value(*choice, "parts"));
    const double sum = sum_of_shares(parts);
    if (!parts.empty() && std::abs(sum - 1) > 1e-6)
      rule.error(path + ".parts", "shares add up to {} %, not to 100 %", format_number(100 * sum));
  }
}

}  // namespace

std::vector<WrittenSchedule> rate_schedules(const Recipe& recipe) {
  const auto& train = recipe.train;
  if (train.fine_tune) return {};
  if (train.stages.empty()) return {{"schedule", &recipe.schedule, train.duration, true}};
  std::vector<WrittenSchedule> all;
  for (std::size_t i = 0; i < train.stages.size(); ++i) {
    const auto& stage = train.stages[i];
    const bool own = stage.schedule.has_value();
    all.push_back({own ? indexed("train.stages", i) + ".schedule" : "schedule",
                   own ? &*stage.schedule : &recipe.schedule, stage.duration, false});
  }
  return all;
}

std::vector<WrittenSchedule> written_schedules(const Recipe& recipe) {
  auto all = rate_schedules(recipe);
  const auto run = whole_run(recipe);
  if (!run) return all;
  if (recipe.momentum_schedule)
    all.push_back({"momentum_schedule", &*recipe.momentum_schedule, *run, true});
  if (recipe.weight_decay_schedule)
    all.push_back({"weight_decay_schedule", &*recipe.weight_decay_schedule, *run, true});
  return all;
}

constexpr Rule kScheduleRules[] = {
    {{"warmup", "Warm-up is shorter than the run.",
      "The rate would never reach what the recipe says.",
      "train: {duration: 5 epochs}\nschedule: {type: cosine, warmup: 10 epochs}",
      "train: {duration: 5 epochs}\nschedule: {type: cosine, warmup: 1 epoch}"},
     warmup_fits_the_run},
    {{"momentum-cycle", "A schedule that cycles momentum wants an optimizer that has it.",
      "The rate would follow the schedule and the momentum would not.",
      "optimizer: adagrad\nschedule: one_cycle", "optimizer: adam\nschedule: one_cycle"},
     momentum_is_there_to_cycle},
    {{"nothing-to-schedule", "A schedule of momentum or weight decay moves what is there.",
      "What is 0 stays 0, and two schedules cannot both say what the momentum is.",
      "optimizer: {type: sgd, lr: 0.1, momentum: 0}\nmomentum_schedule: {type: linear, "
      "end_factor: 0.5}",
      "optimizer: {type: sgd, lr: 0.1, momentum: 0.9}\n"
      "momentum_schedule: {type: linear, end_factor: 0.5}"},
     there_is_something_to_schedule},
    {{"milestone", "The rate changes before the run ends.",
      "What a schedule does after the last step is never seen.",
      "train: {duration: 5 epochs}\n"
      "schedule: {type: multi_step, milestones: [3 epochs, 8 epochs]}",
      "train: {duration: 5 epochs}\n"
      "schedule: {type: multi_step, milestones: [3 epochs, 4 epochs]}"},
     milestones_are_reached},
    {{"decay", "The decay at the end of a schedule fits the run.",
      "The run would end at a rate that is still high.",
      "train: {duration: 5 epochs}\n"
      "schedule: {type: wsd, stable: 4 epochs, decay: 2 epochs}",
      "train: {duration: 5 epochs}\n"
      "schedule: {type: wsd, stable: 4 epochs, decay: 1 epoch}"},
     the_decay_fits_the_run},
    {{"min-lr", "The floor of a schedule is below its rate.",
      "A rate that falls to a higher one rises.",
      "optimizer: {lr: 0.01}\nschedule: {type: cosine, min_lr: 0.1}",
      "optimizer: {lr: 0.1}\nschedule: {type: cosine, min_lr: 0.01}"},
     the_floor_is_below_the_rate},
    {{"parts", "The parts of a combined schedule make up the run.",
      "With less the run has no rate at its end, with more the last part is cut off.",
      "schedule: {type: combined, parts: [{curve: linear, share: 30 %}, {curve: cosine, share: "
      "60 %}]}",
      "schedule: {type: combined, parts: [{curve: linear, share: 30 %}, {curve: cosine, share: "
      "70 %}]}"},
     parts_make_the_whole},
};

std::vector<Rule> schedule_rules() {
  return {std::begin(kScheduleRules), std::end(kScheduleRules)};
}

}  // namespace ddptrain
