// Which way a metric gets better, and how far it goes.
#include <fmt/format.h>

#include "base/text.h"
#include "recipe/rules/metric_names.h"
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

std::string which_way(const std::string& name, BestMode better) {
  return better == BestMode::min
             ? fmt::format("'{}' gets better as it gets smaller; write 'mode: min'", name)
             : fmt::format("'{}' gets better as it gets larger; write 'mode: max'", name);
}

void the_best_is_kept(const RuleContext& rule) {
  const auto& best = rule.recipe.checkpoint.keep_best;
  const auto better = best ? better_way(rule, best->metric) : std::nullopt;
  if (better && *better != best->mode.value)
    rule.error("checkpoint.keep_best.mode", which_way(best->metric, *better));
}

void the_best_is_watched(const RuleContext& rule) {
  const auto& callbacks = rule.recipe.callbacks;
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    const auto name = text_of(rule.value(callbacks[i], "metric"));
    const auto mode = text_of(rule.value(callbacks[i], "mode"));
    if (mode != "min" && mode != "max") continue;
    const auto better = better_way(rule, name);
    if (better && *better != (mode == "min" ? BestMode::min : BestMode::max))
      rule.error(indexed("callbacks", i) + ".mode", which_way(name, *better));
  }
}

void bounds_are_in_range(const RuleContext& rule) {
  for (const auto& [name, bounds] : rule.recipe.expect) {
    const auto metric = named_metric(rule, name).metric;
    if (metric && bounds.min && *bounds.min > 1 && rule.has(*metric, "at_most_1"))
      rule.error(fmt::format("expect.{}.min", name),
                 "{} is never met: 1 is the most; write 0.8 for 80 %", format_number(*bounds.min));
  }
}

void thresholds_are_probabilities(const RuleContext& rule) {
  const auto metrics = rule.metrics();
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const auto threshold = number_of(rule.value(metrics[i], "threshold"));
    if (!threshold || !is_true(rule.value(metrics[i], "sigmoid"))) continue;
    if (*threshold < 0 || *threshold > 1)
      rule.error(indexed("metrics", i) + ".threshold",
                 "{} is no probability, from 0 to 1, and 'sigmoid: true' makes probabilities of "
                 "the outputs; 'sigmoid: false' compares outputs as they are",
                 format_number(*threshold));
  }
}

constexpr Rule kMetricRangeRules[] = {
    {{"keep-best-mode", "keep_best knows which way its metric gets better.",
      "Otherwise the worst checkpoint is the one that is kept.",
      "checkpoint: {keep_best: {metric: loss, mode: max}}",
      "checkpoint: {keep_best: {metric: loss, mode: min}}"},
     the_best_is_kept},
    {{"callback-mode", "A callback knows which way its metric gets better.",
      "Otherwise it acts when the metric gets better; 'auto' asks the metric.",
      "train: {duration: 9 epochs}\n"
      "callbacks: [{type: early_stopping, metric: accuracy, mode: min}]",
      "train: {duration: 9 epochs}\n"
      "callbacks: [{type: early_stopping, metric: accuracy, mode: max}]"},
     the_best_is_watched},
    {{"expect-range", "What is expected is within the metric's range.",
      "A share is at most 1: 80 % is 0.8.", "expect: {accuracy: {min: 80}}",
      "expect: {accuracy: {min: 0.8}}"},
     bounds_are_in_range},
    {{"threshold", "A threshold of probabilities is one.",
      "Below 0 every label is named, above 1 none is.",
      "loss: bce_with_logits\ndata: {type: manifest, file: labels.csv, label_delimiter: ' '}\n"
      "metrics: [{type: accuracy_multi, threshold: 5}]",
      "loss: bce_with_logits\ndata: {type: manifest, file: labels.csv, label_delimiter: ' '}\n"
      "metrics: [{type: accuracy_multi, threshold: 0.5}]"},
     thresholds_are_probabilities},
};

}  // namespace

std::vector<Rule> metric_range_rules() {
  return {std::begin(kMetricRangeRules), std::end(kMetricRangeRules)};
}

}  // namespace ddptrain
