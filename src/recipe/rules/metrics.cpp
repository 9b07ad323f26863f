// Metrics, and whoever names one.
#include <algorithm>

#include "recipe/rules.h"

namespace ddptrain {
namespace {

/// Whether evaluation computes a metric: "accuracy", "valid/accuracy", or one of a metric's several
/// values such as "accuracy/cat".
bool is_computed(const Recipe& recipe, const std::string& name) {
  std::string bare = name;
  for (const std::string split : {"valid/", "valid_ema/", "valid_swa/", "valid_tta/",
                                  "valid_ema_tta/", "valid_swa_tta/", "train/"})
    if (bare.starts_with(split)) bare = bare.substr(split.size());
  if (bare == "loss") return true;
  return std::any_of(recipe.metrics.begin(), recipe.metrics.end(), [&](const auto& metric) {
    return bare == metric.type() || bare.starts_with(metric.type());
  });
}

void check_computed(const RuleContext& rule, const std::string& name, const std::string& path) {
  if (!is_computed(rule.recipe, name))
    rule.error(path, "'" + name + "' is not among the metrics; add it to 'metrics'");
}

void the_best_is_by_a_metric(const RuleContext& rule) {
  const auto& best = rule.recipe.checkpoint.keep_best;
  if (best) check_computed(rule, best->metric, "checkpoint.keep_best.metric");
}

void what_is_expected_is_computed(const RuleContext& rule) {
  for (const auto& [name, bounds] : rule.recipe.expect)
    check_computed(rule, name, "expect." + name);
}

void what_is_watched_is_computed(const RuleContext& rule) {
  const auto& callbacks = rule.recipe.callbacks;
  for (std::size_t i = 0; i < callbacks.size(); ++i)
    if (const auto* metric = rule.value(callbacks[i], "metric"))
      check_computed(rule, metric->text, indexed("callbacks", i) + ".metric");
}

}  // namespace

std::vector<Rule> metric_rules() {
  return {
      {{"keep-best-metric", "checkpoint.keep_best names a metric that is computed.",
        "The first evaluation would look for it in vain, an epoch into the run.",
        "metrics: [accuracy]\ncheckpoint: {keep_best: {metric: f1}}",
        "metrics: [accuracy, {type: f1, average: macro}]\ncheckpoint: {keep_best: {metric: f1}}"},
       the_best_is_by_a_metric},
      {{"expect-metric", "expect names metrics that are computed.",
        "A bound on what nobody computes is never met, and the run would end with exit code 6.",
        "metrics: [accuracy]\nexpect: {f1: {min: 0.8}}",
        "metrics: [accuracy]\nexpect: {accuracy: {min: 0.8}}"},
       what_is_expected_is_computed},
      {{"callback-metric", "A callback watches a metric that is computed.",
        "The first evaluation would look for it in vain, an epoch into the run.",
        "metrics: [accuracy]\ntrain: {duration: 9 epochs}\ncallbacks: [{type: early_stopping, "
        "metric: f1}]",
        "metrics: [accuracy]\ntrain: {duration: 9 epochs}\ncallbacks: [{type: early_stopping, "
        "metric: accuracy}]"},
       what_is_watched_is_computed},
  };
}

}  // namespace ddptrain
