// What evaluation computes, by name.
#pragma once

#include <optional>
#include <string>

#include "recipe/rules/rule_context.h"

namespace ddptrain {

/// What a metric's values are called: its type, unless a trait says otherwise: "named top_{k}" with
/// the value of an option, "named accuracy/*" for any number of names.
std::string value_name(const RuleContext& rule, const Choice<Metric>& metric);

/// A metric by the name that a recipe gives it: "accuracy", "valid/accuracy" or
/// "valid_ema/accuracy/cat". Either the metric or why evaluation does not compute it.
struct NamedMetric {
  std::optional<Choice<Metric>> metric;
  std::string why_not;
};
NamedMetric named_metric(const RuleContext& rule, const std::string& name);

/// Which way is better, by the metric's traits; nothing where they do not say. What an optimizer
/// makes large on purpose is left to the caller.
std::optional<BestMode> better_way(const RuleContext& rule, const std::string& name);

}  // namespace ddptrain
