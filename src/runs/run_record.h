// What a run was, how far it came and how it ended: its run.json with what the rest of its folder
// shows. `runs`, `compare`, `ps`, `report`, sweeps and jobs read this record; tables and pages are
// made from it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/named_values.h"
#include "base/output/named_table.h"
#include "runs/best_evaluation.h"
#include "runs/run_history.h"
#include "runs/run_recipe.h"

namespace ddptrain {

enum class RunStatus {
  done,
  interrupted,  // `resume` continues it; also where it was paused
  failed,       // ended with an exit code other than 0
  running,      // a process works in its folder
  killed,       // it has no end, and no process works in its folder
  unknown       // run.json cannot be read
};

/// How long something took; NaN: not known.
struct RunDuration {
  double seconds = std::numeric_limits<double>::quiet_NaN();
  bool whole = false;  // known to the second only
};

/// What a run is judged by (runs/run_scores.h).
struct RunScores {
  ScoredWeights weights;  // of no name: nothing was evaluated
  NamedValues values;     // every metric under these weights, of the test split too
};

struct RunRecord {
  std::string folder;  // as given
  std::string name;    // "quickstart/003": the last two parts of its path
  std::string recipe;  // the recipe's name
  RunStatus status = RunStatus::unknown;
  std::optional<int> exit_code;  // none: the run has not ended, or was killed
  std::string result;            // "done", "interrupted", ...; empty: training did not end
  NamedValues metrics;           // of the last evaluation, and of the test split
  std::int64_t evaluated = -1;   // step of the last evaluation; -1: not known
  std::optional<BestEvaluation> best;
  double began = 0;  // seconds since 1970; 0: not known
  double ended = 0;
  RunDuration earlier = {};   // of earlier starts; not known: there was none
  RunDuration own = {};       // of the last start, where that has ended
  NamedTexts facts;           // for people, titles and values: "device", "LibTorch"
  std::string damage;         // why run.json cannot be read; empty: it can
  RunProgress progress = {};  // where read_run() read the record
  RunOptions options = {};    // where add_recipe() found a recipe that can be read
  RunScores scores = {};      // after add_recipe()
};

struct RunJson;

/// Reads a run folder whose run.json is whole, torn or missing. Whether a run without an end is
/// running follows from the lock of its folder.
RunRecord read_run_record(const std::string& folder);

/// The same, with its progress.
RunRecord read_run(const std::string& folder);

/// Takes in the options of its recipe, and what it is judged by.
void add_recipe(RunRecord& run, RecipeReader& recipes);

/// The same of a run.json that is at hand.
RunRecord run_record(const std::string& folder, const RunJson& file);

/// How long the starts before the last one took.
RunDuration earlier_of(const RunJson& file);

/// "done", "interrupted", "failed", "running", "killed", "unknown".
const char* status_name(RunStatus status);

/// For people: "done", "stopped: ...", "failed, exit code 5", "running", "killed".
std::string status_text(const RunRecord& run);

/// Whether training came to its end: all steps were made, or a callback stopped it.
bool is_finished(const RunRecord& run);

/// How long the run took, over all its starts. Of one without an end until now where it is running,
/// else until its last event.
RunDuration duration_of(const RunRecord& run);

/// "12.3 s", "12 s" of what is known to the second only; empty where it is not known.
std::string to_text(const RunDuration& duration);

/// Whether this is, or was to become, a run's folder.
bool is_run(const std::string& folder);

/// Seconds since 1970 of "2026-03-01T12:34:56Z"; 0 where the text is no such time.
double utc_seconds(const std::string& text);

}  // namespace ddptrain
