#include "runs/run_scores.h"

#include "recipe/eval_splits.h"

namespace ddptrain {
namespace {

bool keeps_best(const RunOptions& options) {
  const auto metric = option_value(options, "checkpoint.keep_best.metric");
  return !metric.empty() && metric != "null";
}

/// "test/accuracy": the end of a run scores it with the weights that are its result.
bool is_of_test(const std::string& name) {
  const auto slash = name.find('/');
  return slash != std::string::npos && samples_of(name.substr(0, slash)) == kTestSplit;
}

RunScores best_scores(const RunRecord& run) {
  const auto& best = *run.best;
  const bool is_last = is_finished(run) && best.step == run.evaluated;
  RunScores scores{{is_last ? "best and last weights" : "best weights", best.step}, best.values};
  for (const auto& value : run.metrics)
    if (is_of_test(value.first)) scores.values.push_back(value);
  return scores;
}

}  // namespace

RunScores scores_of(const RunRecord& run) {
  if (run.best && keeps_best(run.options)) return best_scores(run);
  if (run.metrics.empty()) return {};
  return {{is_finished(run) ? "last weights" : "last evaluation", run.evaluated}, run.metrics};
}

std::string main_metric(const RunRecord& run) {
  if (run.best) return run.best->metric;
  return run.metrics.empty() ? "" : run.metrics[0].first;
}

}  // namespace ddptrain
