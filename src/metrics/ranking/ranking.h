// Scores that depend on the order of all units: the units of every batch are kept until the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metrics/metric.h"
#include "metrics/multi_label/label_scores.h"
#include "metrics/scores/thresholds.h"

namespace ddptrain {

using RankingScore = double (*)(const Ranked&);

/// The rows of a split: `columns` scores and `columns` truths (0 or 1) each.
struct RankedTable {
  std::size_t columns = 0;
  std::vector<double> cells;
  std::size_t rows() const { return columns == 0 ? 0 : cells.size() / (2 * columns); }
  Ranked column(std::size_t c) const;
};

/// Gathers rows batch by batch; subclasses turn outputs into scores and truths of one shape
/// [rows, columns].
class RankingMetric : public Metric {
 public:
  void add(Terms& total, const Terms& batch) const override;

 protected:
  static at::Tensor rows_of(const at::Tensor& scores, const at::Tensor& truths);
  static RankedTable table_of(const Terms& total);
};

/// Probability of class 1 of two, from two logits or one, and whether it is the true one.
std::unique_ptr<Metric> make_binary_ranking(std::string name, RankingScore score);

/// The average of a score over the columns.
double averaged(LabelAverage average, const RankedTable& table, RankingScore score);

/// The same of several labels at once.
struct LabelRankingOptions {
  bool sigmoid = true;
  LabelAverage average = LabelAverage::macro;
  void fields(Fields& f);
};
std::unique_ptr<Metric> make_label_ranking(std::string name, const LabelRankingOptions& options,
                                           RankingScore score);

}  // namespace ddptrain
