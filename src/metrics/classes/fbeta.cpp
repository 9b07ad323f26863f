// (1 + b^2) tp / ((1 + b^2) tp + fp + b^2 fn) (sklearn.metrics.fbeta_score, fastai FBeta).
#include "metrics/classes/class_scores.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

struct FbetaOptions {
  double beta = 1;
  ClassScoreOptions score;
  void fields(Fields& f) {
    f("beta", beta,
      {.doc = "How many times as much recall counts.",
       .min = 0,
       .above_min = true,
       .required = true,
       .example = "2"});
    score.fields(f);
  }
};

}  // namespace

Entry<Metric> fbeta_metric() {
  return entry<Metric, FbetaOptions>(
      "fbeta", "F1 in which recall counts beta times as much as precision.",
      [](const FbetaOptions& options, const MetricContext& context) {
        const double square = options.beta * options.beta;
        return make_class_score("fbeta", options.score, context, [square](const ClassCounts& c) {
          return share((1 + square) * c.hits, c.predicted + square * c.actual);
        });
      },
      {"larger_is_better", "at_most_1", "takes_class", "takes_mask"});
}

}  // namespace ddptrain
