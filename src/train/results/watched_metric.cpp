#include "train/results/watched_metric.h"

#include "base/error.h"
#include "recipe/eval_splits.h"
#include "recipe/rules/metric_names.h"
#include "sources/csv/csv.h"
#include "train/catalogs.h"

namespace ddptrain {
std::optional<WatchedMetric> watched_metric(const Recipe& recipe) {
  Problems none;
  const RuleContext rule(recipe, Node(), all_catalogs(), none);
  if (const auto& best = recipe.checkpoint.keep_best) {
    const bool bare = best->metric.find('/') == std::string::npos;
    const auto mode = best->mode.automatic() ? better_way(rule, best->metric) : best->mode.value;
    if (!mode) return {};
    return WatchedMetric{(bare ? "valid/" : "") + best->metric, *mode};
  }
  std::string first = "loss";
  const auto metrics = recipe.metrics.value.value_or(std::vector<Choice<Metric>>{});
  for (auto metric = metrics.rbegin(); metric != metrics.rend(); ++metric)
    if (const auto name = value_name(rule, *metric); !name.ends_with('*')) first = name;
  const auto mode = better_way(rule, first);
  if (!mode) return {};
  return WatchedMetric{"valid/" + first, *mode};
}

}  // namespace ddptrain
