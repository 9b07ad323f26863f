// metrics.csv of a run folder: a row per evaluation with step, epoch, samples, "train/loss",
// "train/lr" and the metrics. The scores of the test split come last, in the row of the evaluation
// whose weights they are of. No clock in it, so that a resumed run's file equals an uninterrupted
// one's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runs/best_evaluation.h"

namespace ddptrain {

inline constexpr const char* kMetricsCsv = "metrics.csv";

/// A line for the names or the numbers of these columns, of which "step" is the first.
std::string metrics_header(const NamedValues& columns);
std::string metrics_row(const NamedValues& columns);

/// The scores of an evaluation: all columns but those of training; NaN where there is no number.
struct MetricsRow {
  std::int64_t step = 0;
  NamedValues scores;
};

/// Lines that are torn, or have other cells than the header, are left out.
std::vector<MetricsRow> metrics_rows(const std::string& text);

/// Without those of the test split, which no evaluation has scored.
NamedValues without_test_split(NamedValues scores);

/// The last row of RUN/metrics.csv, without empty cells; nothing where there is none.
std::optional<MetricsRow> last_metrics(const std::string& folder);

/// The best row of RUN/metrics.csv; empty where there is no file, or no number for the metric.
std::optional<BestEvaluation> best_evaluation(const std::string& folder,
                                              const WatchedMetric& watched);

/// Header and rows up to a step, without the test split, which a resumed run scores again.
struct KeptRows {
  std::string header;    // empty: there is none
  std::string text;      // header and rows
  bool shorter = false;  // rows of later steps were left out
};
KeptRows rows_until(const std::string& text, std::int64_t step);

/// The same of a run's file as that of another run, where the first has one.
void copy_metrics(const std::string& from, const std::string& to, std::int64_t step);

/// The text with scores of the test split in place of those that it has: in the row of a step, in a
/// row of their own where there is none.
std::string with_test_scores(const std::string& text, std::int64_t step, const NamedValues& scores);

}  // namespace ddptrain
