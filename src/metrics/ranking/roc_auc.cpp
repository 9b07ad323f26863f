// Area under the ROC curve of single-label classification with any number of classes
// (sklearn.metrics.roc_auc_score on softmax, fastai.metrics.RocAuc).
#include <ATen/ops/arange.h>

#include <limits>

#include "base/names.h"
#include "losses/rows.h"
#include "metrics/labels.h"
#include "metrics/metric.h"
#include "metrics/ranking/ranking.h"

namespace ddptrain {
namespace {

enum class MultiClass { ovr, ovo };
std::span<const std::string_view> names(MultiClass) { return kNameList<"ovr", "ovo">; }

enum class ClassAverage { macro, weighted };
std::span<const std::string_view> names(ClassAverage) { return kNameList<"macro", "weighted">; }

struct RocAucOptions {
  ClassAverage average = ClassAverage::macro;
  MultiClass multi_class = MultiClass::ovr;
  void fields(Fields& f) {
    f("average", average, {.doc = "Each class counts the same, or by how many rows are of it."});
    f("multi_class", multi_class,
      {.doc = "ovr: each class against the rest; ovo: each pair of classes."});
  }
};

/// The rows of column `c` that are of class `c` or `other`.
Ranked between(const RankedTable& table, std::size_t c, std::size_t other) {
  const auto mine = table.column(c);
  const auto theirs = table.column(other);
  Ranked ranked;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!mine.truths[row] && !theirs.truths[row]) continue;
    ranked.scores.push_back(mine.scores[row]);
    ranked.truths.push_back(mine.truths[row]);
  }
  return ranked;
}

// Hand and Till (2001).
double one_against_one(const RankedTable& table, ClassAverage average) {
  double sum = 0;
  double weights = 0;
  for (std::size_t a = 0; a < table.columns; ++a)
    for (std::size_t b = a + 1; b < table.columns; ++b) {
      const auto first = between(table, a, b);
      const auto second = between(table, b, a);
      const double weight =
          average == ClassAverage::weighted ? static_cast<double>(first.scores.size()) : 1;
      sum += weight * (roc_auc(first) + roc_auc(second)) / 2;
      weights += weight;
    }
  return sum / weights;
}

class RocAuc final : public RankingMetric {
 public:
  explicit RocAuc(const RocAucOptions& options) : options_(options) {}

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto labels = labels_of(target, output.select(1, 0)).unsqueeze(1);
    const auto classes = at::arange(output.size(1), labels.options());
    return rows_of(full_precision(output).softmax(1), labels.eq(classes));
  }
  Values values(const Terms& total) const override {
    const auto table = table_of(total);
    if (table.columns < 2) return {{"roc_auc", std::numeric_limits<double>::quiet_NaN()}};
    if (options_.multi_class == MultiClass::ovo)
      return {{"roc_auc", one_against_one(table, options_.average)}};
    const bool weighted = options_.average == ClassAverage::weighted;
    const auto average = weighted ? LabelAverage::weighted : LabelAverage::macro;
    return {{"roc_auc", averaged(average, table, roc_auc)}};
  }

 private:
  RocAucOptions options_;
};

}  // namespace

Entry<Metric> roc_auc_metric() {
  return entry_of<Metric, RocAuc, RocAucOptions>(
      "roc_auc", "Area under the ROC curve, averaged over classes or pairs of classes.",
      {"larger_is_better", "at_most_1", "takes_class"});
}

}  // namespace ddptrain
