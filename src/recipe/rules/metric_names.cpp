#include "recipe/rules/metric_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "config/catalog.h"
#include "config/check/hints.h"
#include "config/suggest.h"
#include "recipe/eval_splits.h"
#include "recipe/targets.h"

namespace ddptrain {
namespace {

/// "{k}" becomes the value of option k.
std::string with_options(const RuleContext& rule, const Choice<Metric>& metric, std::string name) {
  for (auto open = name.find('{'); open != std::string::npos; open = name.find('{')) {
    const auto close = name.find('}', open);
    const auto option = name.substr(open + 1, close - open - 1);
    name.replace(open, close - open + 1, text_of(rule.value(metric, option)));
  }
  return name;
}

bool fits(const std::string& pattern, const std::string& name) {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

/// As written; all that might come where only the data tell.
std::vector<Choice<Metric>> possible_metrics(const Recipe& recipe) {
  if (recipe.metrics.value) return *recipe.metrics.value;
  std::vector<Choice<Metric>> all;
  for (const auto kind : kTargetKinds)
    for (const auto& metric : usual_metrics(kind)) all.push_back(metric);
  return all;
}

std::optional<Choice<Metric>> find(const RuleContext& rule, const std::string& bare) {
  for (const auto& metric : possible_metrics(rule.recipe))
    if (fits(value_name(rule, metric), bare)) return metric;
  if (bare == "loss") return Choice<Metric>("loss");  // always comes with them
  return {};
}

/// Why nothing is scored under a prefix ("valid_ema"); empty where something is.
std::string missing_for(const Recipe& recipe, const std::string& prefix) {
  const auto samples = samples_of(prefix);
  const auto kind = prefix.substr(samples.size());
  if (kind.ends_with("_tta") && !recipe.eval.tta) return "eval.tta";
  if (kind.starts_with("_ema") && !recipe.train.ema) return "train.ema";
  if (kind.starts_with("_swa") && !recipe.train.swa) return "train.swa";
  if (samples == kTestSplit && !recipe.eval.test) return "eval.test";
  return "";
}

bool is_split(const Recipe& recipe, const std::string& prefix) {
  const auto samples = samples_of(prefix);
  return samples == "valid" || samples == kTestSplit || recipe.eval.splits.contains(samples);
}

/// What to write for a metric that is not listed: one that is, one of another name, or it itself.
std::string advice(const RuleContext& rule, const std::string& bare) {
  std::vector<std::string> listed{"loss"};
  for (const auto& metric : possible_metrics(rule.recipe))
    listed.push_back(value_name(rule, metric));
  const auto catalog = rule.catalogs.find(kind_name<Metric>);
  if (catalog == rule.catalogs.end()) return "; add it to 'metrics'";
  const auto known = catalog->second->names();
  if (std::find(known.begin(), known.end(), bare) != known.end()) return "; add it to 'metrics'";
  const auto meant = meant_components(bare, kind_name<Metric>, known);
  if (meant.names.empty())
    return did_you_mean(nearest_names(bare, listed), "; add it to 'metrics'");
  const bool there = std::find(listed.begin(), listed.end(), meant.names.front()) != listed.end();
  return meant_text(meant) + (there ? "" : " Add it to 'metrics'");
}

/// Samples whose name is like one that is not known.
std::vector<std::string> like(const Recipe& recipe, const std::string& prefix) {
  std::vector<std::string> names{"valid"};
  for (const auto& split : split_sections(recipe)) names.push_back(split.name);
  return nearest_names(samples_of(prefix), names);
}

}  // namespace

std::string value_name(const RuleContext& rule, const Choice<Metric>& metric) {
  const auto* entry = rule.entry(metric);
  const auto named = entry ? trait_argument(*entry, "named") : std::nullopt;
  return named ? with_options(rule, metric, *named) : metric.type();
}

NamedMetric named_metric(const RuleContext& rule, const std::string& name) {
  const auto slash = name.find('/');
  const auto split = slash == std::string::npos ? "valid" : name.substr(0, slash);
  const auto bare = slash == std::string::npos ? name : name.substr(slash + 1);
  if (!is_split(rule.recipe, split)) {
    if (find(rule, name)) return {{}, "'" + name + "' wants a split; write 'valid/" + name + "'"};
    if (split == "train")
      return {{}, fmt::format("evaluation scores the held-out split; write 'valid/{}'", bare)};
  }
  if (const auto missing = missing_for(rule.recipe, split); !missing.empty())
    return {{}, fmt::format("'{}' is scored only with {}", name, missing)};
  if (is_split(rule.recipe, split)) {
    if (auto metric = find(rule, bare)) return {std::move(metric), ""};
  } else if (const auto near = like(rule.recipe, split); !near.empty()) {
    return {{}, fmt::format("no samples are called '{}'{}", split, did_you_mean(near))};
  }
  return {{}, fmt::format("'{}' is not among the metrics{}", name, advice(rule, bare))};
}

std::optional<BestMode> better_way(const RuleContext& rule, const std::string& name) {
  const auto metric = named_metric(rule, name).metric;
  if (!metric || is_true(rule.value(inner_optimizer(rule.recipe).choice, "maximize"))) return {};
  if (rule.has(*metric, "smaller_is_better")) return BestMode::min;
  if (rule.has(*metric, "larger_is_better")) return BestMode::max;
  return {};
}

}  // namespace ddptrain
