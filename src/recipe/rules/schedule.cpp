// Schedules against the run, its stages and the optimiser.
#include "recipe/rules.h"
#include "recipe/rules/written_schedules.h"

namespace ddptrain {
namespace {

void warmup_fits_the_run(const RuleContext& rule) {
  for (const auto& [path, choice, run, whole] : written_schedules(rule.recipe)) {
    const auto* warmup = rule.value(*choice, "warmup");
    const auto length = duration_of(warmup);
    if (length && is_longer(*length, run))
      rule.error(path + ".warmup", "'" + to_text(*length) + "' of warm-up is longer than the " +
                                       (whole ? "run" : "stage") + " of '" + to_text(run) + "'");
  }
}

void momentum_is_there_to_cycle(const RuleContext& rule) {
  const auto* optimizer = rule.entry(rule.recipe.optimizer);
  if (!optimizer || optimizer->has("momentum")) return;
  for (const auto& [path, choice, run, whole] : written_schedules(rule.recipe))
    if (rule.has(*choice, "momentum"))
      rule.warn(path,
                "'" + choice->type() + "' cycles momentum, and '" + optimizer->name + "' has none");
}

}  // namespace

std::vector<WrittenSchedule> written_schedules(const Recipe& recipe) {
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

std::vector<Rule> schedule_rules() {
  return {
      {{"warmup", "Warm-up is shorter than the run.",
        "The rate would never reach what the recipe says.",
        "schedule: {type: cosine, warmup: 10 epochs}", "schedule: {type: cosine, warmup: 1 epoch}"},
       warmup_fits_the_run},
      {{"momentum-cycle", "A schedule that cycles momentum wants an optimiser that has it.",
        "The rate would follow the schedule and the momentum would not.",
        "optimizer: adagrad\nschedule: one_cycle", "optimizer: adam\nschedule: one_cycle"},
       momentum_is_there_to_cycle},
  };
}

}  // namespace ddptrain
