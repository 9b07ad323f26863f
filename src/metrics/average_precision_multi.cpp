// Average precision of several labels at once (fastai.metrics.APScoreMulti).
#include "metrics/catalog.h"
#include "metrics/ranking.h"

namespace ddptrain {
namespace {

struct Options {
  bool sigmoid = true;
  LabelAverage average = LabelAverage::macro;
  void fields(Fields& f) {
    f("sigmoid", sigmoid, {.doc = "Outputs are logits: take their sigmoid first."});
    f("average", average,
      {.doc = "macro: the mean over labels; micro: of all labels' scores together; weighted: the "
              "mean weighted by how often a label is true."});
  }
};

}  // namespace

Entry<Metric> average_precision_multi_metric() {
  return entry<Metric, Options>(
      "average_precision_multi", "Average precision of each label, averaged.",
      [](const Options& options, const MetricContext&) {
        return make_label_ranking("average_precision_multi", options.sigmoid, options.average,
                                  average_precision);
      });
}

}  // namespace ddptrain
