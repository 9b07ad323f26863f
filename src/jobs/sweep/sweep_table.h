// What a sweep found, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "jobs/sweep/sweep_record.h"
#include "recipe/recipe.h"
#include "recipe/sweep/trials.h"
#include "runs/best_evaluation.h"
#include "runs/sweep_results.h"

namespace ddptrain {

/// What a sweep is: its section, its trials, and by what they are compared.
struct SweepPlan {
  SweepSpec spec;
  std::vector<SweepTrial> trials;
  WatchedMetric watched;
  HalvingPlan halving;
  bool keeps_best = false;  // values are those of the best weights, else of the last
  std::int64_t seed = 42;   // of the recipe; where trials have several, the first
};

/// The trials, best first: those that trained longest, then by the metric; of equal ones the
/// first.
std::vector<SweepTrialResult> sweep_trials(const SweepPlan& plan, const SweepRecord& record);

/// The table for people in lines of at most `columns` (0: any width).
std::string table_text(const SweepPlan& plan, const SweepRecord& record, std::size_t columns);

/// FOLDER/trials.txt, trials.csv and trials.json. No clock in them: an interrupted sweep ends with
/// those of an uninterrupted one. Returns the text.
std::string write_tables(const SweepPlan& plan, const SweepRecord& record);

/// Of a trial at a rung, over its seeds, larger is better; nothing while one is not known.
std::optional<double> job_value(const SweepPlan& plan, const SweepRecord& record,
                                const TrialJob& job);

/// The same, but NaN as soon as one of its seeds has failed: the trial is worth nothing then,
/// whatever the others come to.
std::optional<double> value_or_failure(const SweepPlan& plan, const SweepRecord& record,
                                       const TrialJob& job);

}  // namespace ddptrain
