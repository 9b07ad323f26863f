#include "train/run/best_evaluation.h"

#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "callbacks/best.h"
#include "recipe/eval_splits.h"
#include "recipe/rules/metric_names.h"
#include "sources/csv/csv.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

double number_at(const Csv& csv, std::size_t row, std::size_t column) {
  return parse_number(csv.cell(row, column)).value_or(std::nan(""));
}

bool is_score(const std::string& name) {
  const auto slash = name.find('/');
  return slash != std::string::npos && !name.starts_with("train/") &&
         samples_of(name.substr(0, slash)) != kTestSplit;  // which no evaluation has scored
}

NamedValues scores_of(const Csv& csv, std::size_t row) {
  NamedValues values;
  for (std::size_t column = 0; column < csv.header().size(); ++column)
    if (const auto& name = csv.header()[column]; is_score(name))
      values.emplace_back(name, number_at(csv, row, column));
  return values;
}

std::optional<BestEvaluation> best_row(const Csv& csv, const WatchedMetric& watched) {
  const auto column = csv.column(watched.name);
  if (!column) return {};
  Best best(watched.mode);
  std::optional<std::size_t> found;
  for (std::size_t row = 0; row < csv.rows(); ++row)
    if (best.improves(number_at(csv, row, *column))) found = row;
  if (!found) return {};
  const auto step = parse_integer(csv.cell(*found, csv.required_column("step")));
  return BestEvaluation{watched.name, watched.mode, step.value_or(0), scores_of(csv, *found)};
}

}  // namespace

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

std::optional<BestEvaluation> best_evaluation(const std::string& metrics_csv,
                                              const WatchedMetric& watched) {
  if (!std::filesystem::exists(metrics_csv)) return {};
  try {
    return best_row(Csv(metrics_csv), watched);
  } catch (const Error& error) {  // somebody wrote into the log; the run is none the worse
    log::warning(error.what());
    return {};
  }
}

}  // namespace ddptrain
