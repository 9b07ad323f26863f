// A run as a report shows it: what its folder holds, whole or torn.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/named_values.h"
#include "runs/data_json.h"
#include "runs/run_history.h"
#include "runs/run_record.h"
#include "runs/samples_json.h"
#include "runs/transfer.h"

namespace ddptrain {

struct ReportRun {
  RunRecord record;
  RunHistory history;
  std::string recipe;   // as resolved, YAML
  NamedTexts sources;   // files as written, with their text
  std::string command;  // as typed; may be empty
  SamplesFile samples;  // of the validation split, or a part of them
  DataCounts data;
  std::optional<Transfer> transfer;  // of weights that the run started from
  std::vector<std::string> damages;  // files that are missing or torn, in words
};

/// Reads a run folder. An Error (Exit::data) where it is no run's folder; what is missing or torn
/// within is in `damages`.
ReportRun read_report_run(const std::string& folder);

}  // namespace ddptrain
