// A run, or a sweep, as `runs` lists it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/quoting.h"
#include "runs/run_record.h"
#include "runs/sweep_results.h"

namespace ddptrain {

struct RunRow {
  RunRecord record;                        // of a sweep its folder, name and recipe alone
  NamedTexts differences;                  // from its neighbors; see add_differences
  std::vector<RunRow> trials;              // of a sweep
  std::optional<SweepResults> sweep = {};  // as far as that has come
};

using RunRows = std::vector<RunRow>;

/// Of everything that find_runs finds in the folders; what is in a sweep is in its row, or with
/// `trials_as_rows` a row each.
RunRows read_rows(const std::vector<std::string>& roots, bool trials_as_rows);

/// Gives each run of a recipe the options that differ among them, with its own values; where these
/// are more than `most`, those that changed since the run before. A sweep gets the names of the
/// options that it varies.
void add_differences(RunRows& rows, std::size_t most);

/// What a column shows of a row: text for people, and the number that it stands for.
struct RunCell {
  std::string text;  // empty: nothing
  std::optional<double> number;
};

/// A column is one of column_names(), a metric ("valid/loss", by the rule of runs/run_scores.h), or
/// an option of the recipe ("optimizer.lr").
RunCell cell_of(const RunRow& row, const std::string& column);

/// Those that every run has.
const std::vector<std::string>& column_names();

/// The metric that a row is compared by: main_metric() of a run, the sweep's own; empty: none.
std::string metric_of(const RunRow& row);

/// A line for each row, numbers as exactly as they are known.
void print_csv(const RunRows& rows, const std::vector<std::string>& columns, CsvReader reader);

/// "0.912 ± 0.0041": of the deviation, which is uncertain itself, two digits.
std::string mean_text(const std::vector<double>& values);

}  // namespace ddptrain
