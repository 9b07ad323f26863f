// Intersection over union of each class (Everingham et al. 2010), of the pixels of the whole split.
#include "metrics/classes/class_scores.h"
#include "metrics/labels.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

class PerClassIou final : public Metric {
 public:
  explicit PerClassIou(MetricContext context) : context_(std::move(context)) {}

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    return count_pairs(output, target, context_.void_code);
  }

  /// NaN of a class that neither occurs nor was predicted.
  Values values(const Terms& total) const override {
    Values all;
    const auto counts = class_counts(total);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto& c = counts[i];
      all.emplace_back("iou/" + class_name(context_, i),
                       ratio({c.hits, c.actual + c.predicted - c.hits}));
    }
    return all;
  }

 private:
  MetricContext context_;
};

}  // namespace

Entry<Metric> per_class_iou_metric() {
  return entry_of<Metric, PerClassIou>(
      "per_class_iou",
      "Intersection over union of each class, named iou/CLASS; jaccard_coeff_multi is their mean.",
      {"larger_is_better", "at_most_1", "named iou/*", "takes_class", "takes_mask"});
}

}  // namespace ddptrain
