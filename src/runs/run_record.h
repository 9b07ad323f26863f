// run.json of a run folder: what a run was, and how it ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/named_values.h"
#include "recipe/recipe.h"

namespace ddptrain {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// The evaluation of a run that was best by one of its metrics.
struct BestEvaluation {
  std::string metric;
  BestMode mode = BestMode::max;
  std::int64_t step = 0;
  NamedValues values;  // all metrics of that evaluation
};

enum class RunStatus {
  done,
  interrupted,  // `resume` continues it; also where it was paused
  failed,       // ended with an exit code other than 0
  running,      // a process works in its folder
  killed,       // it has no end, and no process works in its folder
  unknown       // run.json cannot be read
};

struct RunRecord {
  std::string folder;  // as given
  std::string name;    // "quickstart/003": the last two parts of its path
  std::string recipe;  // the recipe's name
  RunStatus status = RunStatus::unknown;
  std::optional<int> exit_code;  // none: the run has not ended, or was killed
  std::string result;            // "done", "interrupted", ...; empty: training did not end
  NamedValues metrics;           // of the last evaluation
  std::optional<BestEvaluation> best;
  double began = 0;  // seconds since 1970; 0: not known
  double ended = 0;
  NamedTexts facts;    // for people, titles and values: "device", "LibTorch"
  std::string damage;  // why run.json cannot be read; empty: it can
};

/// Reads RUN/run.json, whole, torn or missing. Whether a run without an end is running follows from
/// the lock of its folder.
RunRecord read_run_record(const std::string& folder);

/// "done", "interrupted", "failed", "running", "killed", "unknown".
const char* status_name(RunStatus status);

/// For people: "done", "stopped: ...", "failed, exit code 5", "running", "killed".
std::string status_text(const RunRecord& run);

/// Whether this is, or was to become, a run's folder.
bool is_run(const std::string& folder);

/// Seconds since 1970 of "2026-03-01T12:34:56Z"; 0 where the text is no such time.
double utc_seconds(const std::string& text);

}  // namespace ddptrain
