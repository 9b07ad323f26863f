// Options of the optimiser against each other.
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

void there_is_decay_to_leave_out(const RuleContext& rule) {
  const auto [optimizer, path] = inner_optimizer(rule.recipe);
  if (number_of(rule.value(optimizer, "weight_decay")) == 0 &&
      !items_of(rule.value(optimizer, "no_decay")).empty())
    rule.warn(path + ".no_decay", "weight_decay is 0, so nothing decays anyway");
}

/// Visits an optimiser and those within it.
template <class Visit>
void for_each_optimizer(const Choice<Optimizer>& optimizer, const std::string& path, Visit visit) {
  visit(optimizer, path);
  for (const std::string key : {"inner", "others"})
    if (const auto* within = optimizer.node().find(key); within && !within->is_null())
      for_each_optimizer(choice_of<Optimizer>(*within), path + "." + key, visit);
}

void check_nesterov(const RuleContext& rule, const Choice<Optimizer>& optimizer,
                    const std::string& path) {
  const auto momentum = number_of(rule.value(optimizer, "momentum"));
  const auto dampening = number_of(rule.value(optimizer, "dampening"));
  if (!is_true(rule.value(optimizer, "nesterov")) || !momentum) return;
  if (*momentum == 0 || dampening.value_or(0) != 0)
    rule.error(path + ".nesterov",
               "it looks ahead along the momentum, and wants momentum above 0 "
               "and dampening 0");
}

void nesterov_has_momentum(const RuleContext& rule) {
  for_each_optimizer(rule.recipe.optimizer, "optimizer",
                     [&](const Choice<Optimizer>& optimizer, const std::string& path) {
                       check_nesterov(rule, optimizer, path);
                     });
}

void there_is_momentum_to_dampen(const RuleContext& rule) {
  const auto [optimizer, path] = inner_optimizer(rule.recipe);
  if (number_of(rule.value(optimizer, "dampening")).value_or(0) != 0 &&
      number_of(rule.value(optimizer, "momentum")) == 0)
    rule.warn(path + ".dampening", "there is no momentum to dampen");
}

void only_one_looks_ahead(const RuleContext& rule) {
  const auto* inner = rule.recipe.optimizer.node().find("inner");
  if (!inner || inner->is_null() || !rule.has(rule.recipe.optimizer, "lookahead")) return;
  const auto choice = choice_of<Optimizer>(*inner);
  if (rule.has(choice, "lookahead"))
    rule.warn("optimizer.inner", "'" + choice.type() + "' looks ahead by itself");
}

}  // namespace

std::vector<Rule> optimizer_rules() {
  return {
      {{"no-decay", "no_decay wants weight decay.",
        "With 'weight_decay: 0' no parameter decays, those named here as little as the others.",
        "optimizer: {no_decay: [norm, bias]}",
        "optimizer: {weight_decay: 1e-4, no_decay: [norm, bias]}"},
       there_is_decay_to_leave_out},
      {{"nesterov", "nesterov wants momentum, undampened.",
        "It is a step along the momentum; without one there is no such step.",
        "optimizer: {type: sgd, lr: 0.1, momentum: 0, nesterov: true}",
        "optimizer: {type: sgd, lr: 0.1, momentum: 0.9, nesterov: true}"},
       nesterov_has_momentum},
      {{"dampening", "dampening wants momentum.",
        "It is the share of a gradient that the momentum leaves out.",
        "optimizer: {type: sgd, lr: 0.1, momentum: 0, dampening: 0.1}",
        "optimizer: {type: sgd, lr: 0.1, momentum: 0.9, dampening: 0.1}"},
       there_is_momentum_to_dampen},
      {{"lookahead-twice", "One optimiser looks ahead.",
        "Slow weights of slow weights: ranger is radam with lookahead already.",
        "optimizer: {type: lookahead, inner: ranger}",
        "optimizer: {type: lookahead, inner: radam}"},
       only_one_looks_ahead},
  };
}

}  // namespace ddptrain
