// Options of the optimizer against each other.
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

std::vector<NestedChoice> optimizers(const RuleContext& rule) {
  return nested(rule, rule.recipe.optimizer, "optimizer");
}

void there_is_decay_to_leave_out(const RuleContext& rule) {
  for (const auto& [optimizer, path] : optimizers(rule))
    if (number_of(rule.value(optimizer, "weight_decay")) == 0 &&
        !items_of(rule.value(optimizer, "no_decay")).empty())
      rule.warn(path + ".no_decay", "weight_decay is 0, so nothing decays anyway");
}

void nesterov_has_momentum(const RuleContext& rule) {
  for (const auto& [optimizer, path] : optimizers(rule)) {
    const auto momentum = number_of(rule.value(optimizer, "momentum"));
    const auto dampening = number_of(rule.value(optimizer, "dampening"));
    if (!is_true(rule.value(optimizer, "nesterov")) || !momentum) continue;
    if (*momentum == 0 || dampening.value_or(0) != 0)
      rule.error(path + ".nesterov",
                 "it looks ahead along the momentum, and wants momentum above 0 and dampening 0");
  }
}

void there_is_momentum_to_dampen(const RuleContext& rule) {
  for (const auto& [optimizer, path] : optimizers(rule))
    if (number_of(rule.value(optimizer, "dampening")).value_or(0) != 0 &&
        number_of(rule.value(optimizer, "momentum")) == 0)
      rule.warn(path + ".dampening", "there is no momentum to dampen");
}

void only_one_looks_ahead(const RuleContext& rule) {
  for (const auto& [optimizer, path] : optimizers(rule)) {
    if (!rule.has(optimizer, "lookahead")) continue;
    const auto inside = nested(rule, optimizer, path);
    for (std::size_t i = 1; i < inside.size(); ++i)
      if (rule.has(inside[i].choice, "lookahead"))
        return rule.warn(inside[i].path, "'{}' looks ahead by itself", inside[i].choice.type());
  }
}

constexpr Rule kOptimizerRules[] = {
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
    {{"lookahead-twice", "One optimizer looks ahead.",
      "Slow weights of slow weights: ranger is radam with lookahead already.",
      "optimizer: {type: lookahead, inner: ranger}", "optimizer: {type: lookahead, inner: radam}"},
     only_one_looks_ahead},
};

}  // namespace

std::vector<Rule> optimizer_rules() {
  return {std::begin(kOptimizerRules), std::end(kOptimizerRules)};
}

}  // namespace ddptrain
