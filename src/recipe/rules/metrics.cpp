// Metrics, and the options that name one.
#include <map>

#include "config/complete.h"
#include "config/encode.h"
#include "recipe/eval_splits.h"
#include "recipe/rules/metric_names.h"
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

void check_computed(const RuleContext& rule, const std::string& name, const std::string& path) {
  if (const auto found = named_metric(rule, name); !found.metric) rule.error(path, found.why_not);
}

/// The same of a metric that decides while training goes on.
void check_decides(const RuleContext& rule, const std::string& name, const std::string& path) {
  if (samples_of(name.substr(0, name.find('/'))) != kTestSplit)
    return check_computed(rule, name, path);
  rule.error(path,
             "'{}' is scored once, when training is complete, so that nothing is chosen by it; "
             "name a metric of valid or of eval.splits",
             name);
}

void the_best_is_by_a_metric(const RuleContext& rule) {
  const auto& best = rule.recipe.checkpoint.keep_best;
  if (best) check_decides(rule, best->metric, "checkpoint.keep_best.metric");
}

void what_is_expected_is_computed(const RuleContext& rule) {
  for (const auto& [name, bounds] : rule.recipe.expect)
    check_computed(rule, name, "expect." + name);
}

void what_is_watched_is_computed(const RuleContext& rule) {
  const auto& callbacks = rule.recipe.callbacks;
  for (std::size_t i = 0; i < callbacks.size(); ++i)
    if (const auto* metric = rule.value(callbacks[i], "metric"))
      check_decides(rule, metric->text, indexed("callbacks", i) + ".metric");
}

std::string with_defaults(const RuleContext& rule, const ChoiceBase& choice) {
  return to_yaml(complete_component(choice.node(), choice.kind(), rule.catalogs));
}

void metrics_have_names_of_their_own(const RuleContext& rule) {
  const auto metrics = rule.metrics();
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const auto name = value_name(rule, metrics[i]);
    const auto [known, fresh] = first.emplace(name, i);
    if (fresh) continue;
    const auto other = known->second;
    const auto path = indexed("metrics", i);
    if (with_defaults(rule, metrics[i]) == with_defaults(rule, metrics[other]))
      rule.warn(path, "the same as {}", indexed("metrics", other));
    else
      rule.error(path, "'{}' is what {} is called already; keep one of them", name,
                 indexed("metrics", other));
  }
}

void bounds_can_be_met(const RuleContext& rule) {
  for (const auto& [name, bounds] : rule.recipe.expect)
    if (bounds.min && bounds.max && *bounds.min > *bounds.max)
      rule.error("expect." + name, "nothing is above 'min' and below 'max'");
}

void something_is_expected(const RuleContext& rule) {
  for (const auto& [name, bounds] : rule.recipe.expect)
    if (!bounds.min && !bounds.max)
      rule.warn("expect." + name, "neither 'min' nor 'max': anything will do");
}

constexpr Rule kMetricRules[] = {
    {{"keep-best-metric", "checkpoint.keep_best names a metric that is computed.",
      "The first evaluation would look for it in vain, an epoch into the run.",
      "metrics: [accuracy]\ncheckpoint: {keep_best: {metric: f1}}",
      "metrics: [accuracy, {type: f1, average: macro}]\ncheckpoint: {keep_best: {metric: f1}}"},
     the_best_is_by_a_metric},
    {{"expect-metric", "expect names metrics that are computed.",
      "A bound on a metric that is not computed is never met, and the run would end with exit "
      "code 6.",
      "metrics: [accuracy]\nexpect: {f1: {min: 0.8}}",
      "metrics: [accuracy]\nexpect: {accuracy: {min: 0.8}}"},
     what_is_expected_is_computed},
    {{"callback-metric", "A callback watches a metric that is computed.",
      "The first evaluation would look for it in vain, an epoch into the run.",
      "metrics: [accuracy]\ntrain: {duration: 9 epochs}\n"
      "callbacks: [{type: early_stopping, metric: f1}]",
      "metrics: [accuracy]\ntrain: {duration: 9 epochs}\n"
      "callbacks: [{type: early_stopping, metric: accuracy}]"},
     what_is_watched_is_computed},
    {{"metric-twice", "Metrics have names of their own.",
      "Two columns of one name cannot be distinguished, nor which of them decides.",
      "metrics: [{type: f1, average: macro}, {type: f1, average: micro}]",
      "metrics: [{type: f1, average: macro}, {type: fbeta, beta: 2, average: macro}]"},
     metrics_have_names_of_their_own},
    {{"expect-bounds", "expect.min is at most expect.max.",
      "No number is above the one and below the other.", "expect: {accuracy: {min: 0.9, max: 0.8}}",
      "expect: {accuracy: {min: 0.8, max: 0.9}}"},
     bounds_can_be_met},
    {{"expect-nothing", "What is expected has a bound.",
      "Without 'min' or 'max' the recipe passes its test whatever comes out.",
      "expect: {accuracy: {}}", "expect: {accuracy: {min: 0.8}}"},
     something_is_expected},
};

}  // namespace

std::vector<Rule> metric_rules() { return {std::begin(kMetricRules), std::end(kMetricRules)}; }

}  // namespace ddptrain
