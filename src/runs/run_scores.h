// What a run is judged by: one rule for `runs`, `compare`, `sweep` and the report.
#pragma once

#include "runs/run_record.h"

namespace ddptrain {

/// The rule in words, for the caption of a table.
inline constexpr const char* kScoresRule =
    "Values are those of the best weights where checkpoint.keep_best keeps them, else of the last.";

/// The values of the best evaluation where the recipe has checkpoint.keep_best, which keeps its
/// weights; else of the last one.
RunScores scores_of(const RunRecord& run);

/// The metric by which evaluations of a run are compared, else its first; empty: none.
std::string main_metric(const RunRecord& run);

}  // namespace ddptrain
