#include "recipe/stages.h"

#include "base/text.h"
#include "recipe/recipe.h"

namespace ddptrain {
namespace {

Choice<Schedule> one_cycle(double pct_start, std::optional<double> div) {
  auto node = Node::map({{"type", {}, Node::scalar("one_cycle")},
                         {"pct_start", {}, Node::scalar(format_number(pct_start))}});
  if (div) node.set("div", Node::scalar(format_number(*div)));
  Choice<Schedule> schedule;
  schedule.choose(std::move(node));
  return schedule;
}

// fastai.callback.schedule.fine_tune: fit_one_cycle(freeze_epochs, slice(base_lr), pct_start=0.99)
// frozen, then fit_one_cycle(epochs, slice(base_lr/2/lr_mult, base_lr/2), pct_start, div).
std::vector<Stage> fine_tune(const FineTuneSpec& spec, const FreezeSpec& freeze) {
  std::vector<Stage> stages;
  if (spec.freeze_epochs > 0) {
    Stage frozen{epochs(static_cast<double>(spec.freeze_epochs)), one_cycle(0.99, {}),
                 LearningRate(spec.base_lr), false, freeze};
    frozen.lr->others = spec.base_lr / 10;
    frozen.freeze.freeze_to = -1;
    stages.push_back(std::move(frozen));
  }
  Stage all{epochs(static_cast<double>(spec.epochs)), one_cycle(spec.pct_start.value, spec.div),
            LearningRate(spec.base_lr / 2), true, freeze};
  all.lr->from = spec.base_lr / 2 / spec.lr_mult;
  all.freeze.freeze_to = 0;
  stages.push_back(std::move(all));
  return stages;
}

}  // namespace

void FreezeSpec::fields(Fields& f) {
  f("freeze_to", freeze_to,
    {.doc = "The first layer group that trains; those before it are frozen. -1: the last alone."});
  f("train_bn", train_bn,
    {.doc = "Parameters of normalization layers train in frozen groups as well."});
  f("bn_freeze", bn_freeze,
    {.doc = "Batch norms whose parameters are frozen use their running statistics and leave them "
            "alone."});
}

void StageSpec::fields(Fields& f) {
  f("duration", duration,
    {.doc = "How long this stage lasts.", .required = true, .example = "2 epochs"});
  f("schedule", schedule, {.doc = "Learning rate over this stage; null takes the recipe's."});
  f("lr", lr, {.doc = "Learning rate of this stage; null takes optimizer.lr."});
  f("reset_optimizer", reset_optimizer,
    {.doc = "The optimizer's state (momentum, running means) is reset as this stage begins."});
  freeze.fields(f);
}

void FineTuneSpec::fields(Fields& f) {
  f("epochs", epochs, {.doc = "Epochs in which every layer group trains.", .min = 1});
  f("freeze_epochs", freeze_epochs,
    {.doc = "Epochs before, in which the last layer group trains alone.", .min = 0});
  f("base_lr", base_lr,
    {.doc = "Rate of the frozen epochs; the last group then continues with half of it.",
     .min = 0,
     .above_min = true});
  f("lr_mult", lr_mult,
    {.doc = "How many times smaller the first group's rate is than the last group's.", .min = 1});
  f("pct_start", pct_start, {.doc = "Share of the later epochs in which the rate rises."});
  f("div", div,
    {.doc = "The later epochs begin at their rates divided by this.", .min = 0, .above_min = true});
}

std::vector<Stage> stages_of(const Recipe& recipe) {
  const auto& train = recipe.train;
  if (train.fine_tune) return fine_tune(*train.fine_tune, train.freeze);
  std::vector<Stage> stages;
  for (const auto& spec : train.stages)
    stages.push_back({spec.duration, spec.schedule.value_or(recipe.schedule), spec.lr,
                      spec.reset_optimizer, spec.freeze});
  if (stages.empty()) stages.push_back({train.duration, recipe.schedule, {}, false, train.freeze});
  return stages;
}

std::optional<double> seconds_of(const Recipe& recipe) {
  const auto first = stages_of(recipe).front().duration;
  if (first.unit != Duration::Unit::seconds) return {};
  return first.count;
}

}  // namespace ddptrain
