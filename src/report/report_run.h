// A run as a report shows it: what its folder holds, whole or torn.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/named_values.h"
#include "runs/data_json.h"
#include "runs/run_history.h"
#include "runs/run_recipe.h"
#include "runs/run_record.h"
#include "runs/run_scores.h"
#include "runs/samples_json.h"
#include "runs/transfer.h"

namespace ddptrain {

/// A sample as weights of the run scored it. A few have a name and what a person may see of it.
struct ReportSample : SampleOutcome {
  std::string name;
  NamedTexts cells;
  std::string png;  // in Base64
};

struct ReportRun {
  RunRecord record;
  RunHistory history;
  RunOptions options;  // of the recipe
  RunScores scores;    // what the run is judged by
  RunDuration duration = {};
  std::string recipe;                  // as resolved, YAML
  NamedTexts sources;                  // files as written, with their text
  std::string command;                 // as typed; may be empty
  std::vector<ReportSample> samples;   // of the validation split, or a part of them
  double samples_of = 0;               // how many that split has
  ScoredWeights samples_weights = {};  // which scored them
  std::vector<std::string> classes;    // names; none where samples have numbers
  DataCounts data;
  std::optional<Transfer> transfer;  // of weights that the run started from
  std::vector<std::string> damages;  // files that are missing or torn, in words
};

/// Reads a run folder. An Error (Exit::data) where it is no run's folder; what is missing or torn
/// within is in `damages`.
ReportRun read_report_run(const std::string& folder);

}  // namespace ddptrain
