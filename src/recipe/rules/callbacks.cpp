// Callbacks against the run.
#include <cmath>

#include <map>
#include "base/text.h"

#include "config/complete.h"
#include "config/encode.h"
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

/// How many evaluations a run has, where units can be compared; the last is at its end.
std::optional<double> evaluations(const Recipe& recipe) {
  const auto run = whole_run(recipe);
  const auto part = run ? part_of(recipe.eval.every, *run) : std::nullopt;
  if (!part) return {};
  return std::ceil(1 / *part - 1e-9);
}

// The first evaluation is always the best so far.
void patience_ends_before_the_run(const RuleContext& rule) {
  const auto there = evaluations(rule.recipe);
  const auto& callbacks = rule.recipe.callbacks;
  for (std::size_t i = 0; there && i < callbacks.size(); ++i) {
    const auto patience = number_of(rule.value(callbacks[i], "patience"));
    if (!patience) continue;
    const double wanted = 1 + *patience + (rule.has(callbacks[i], "changes_rate") ? 1 : 0);
    if (wanted > *there)
      rule.warn(indexed("callbacks", i) + ".patience",
                "'{}' acts after {} evaluations at the earliest, and the run has {}",
                callbacks[i].type(), format_number(wanted), format_number(*there));
  }
}

void callbacks_differ(const RuleContext& rule) {
  const auto& callbacks = rule.recipe.callbacks;
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    auto text =
        to_yaml(complete_component(callbacks[i].node(), callbacks[i].kind(), rule.catalogs));
    const auto [same, fresh] = first.emplace(std::move(text), i);
    if (!fresh)
      rule.warn(indexed("callbacks", i), "the same as {}", indexed("callbacks", same->second));
  }
}

void the_rate_can_fall(const RuleContext& rule) {
  if (rule.recipe.train.fine_tune || !rule.recipe.train.stages.empty()) return;
  const auto lr = rate_of(rule);
  const auto& callbacks = rule.recipe.callbacks;
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    const auto floor = number_of(rule.value(callbacks[i], "min_lr"));
    if (lr && floor && *floor >= *lr)
      rule.warn(indexed("callbacks", i) + ".min_lr",
                "{} is not below optimizer.lr, {}: the rate never falls", format_number(*floor),
                format_number(*lr));
  }
}

constexpr Rule kCallbackRules[] = {
    {{"patience", "Patience ends before the run does.",
      "The first evaluation is the best so far, and only those after it are waited for.",
      "train: {duration: 5 epochs}\ncallbacks: [{type: early_stopping, patience: 10}]",
      "train: {duration: 5 epochs}\ncallbacks: [{type: early_stopping, patience: 3}]"},
     patience_ends_before_the_run},
    {{"callback-twice", "A callback is there once.",
      "The same one with the same options does the same twice.",
      "train: {duration: 5 epochs}\ncallbacks: [early_stopping, {type: early_stopping, patience: "
      "3}]",
      "train: {duration: 5 epochs}\n"
      "callbacks: [early_stopping, {type: early_stopping, metric: accuracy}]"},
     callbacks_differ},
    {{"callback-min-lr", "reduce_lr_on_plateau has room for the rate to fall.",
      "A rate that is at its floor from the start stays there.",
      "train: {duration: 5 epochs}\noptimizer: {lr: 0.1}\n"
      "callbacks: [{type: reduce_lr_on_plateau, patience: 1, min_lr: 0.1}]",
      "train: {duration: 5 epochs}\noptimizer: {lr: 0.1}\n"
      "callbacks: [{type: reduce_lr_on_plateau, patience: 1, min_lr: 0.001}]"},
     the_rate_can_fall},
};

}  // namespace

std::vector<Rule> callback_rules() {
  return {std::begin(kCallbackRules), std::end(kCallbackRules)};
}

}  // namespace ddptrain
