// The folder that a run leaves behind: runs/NAME/NNN, never overwritten.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "callbacks/callback.h"
#include "recipe/layers.h"
#include "train/best_evaluation.h"

namespace ddptrain {

/// What is known of a run before it starts.
struct RunStart {
  std::string name;                       // of the recipe
  std::string recipe_text;                // resolved, as YAML
  std::vector<Source> sources;            // files as written
  std::vector<std::string> command_line;  // program first
  std::int64_t seed = 0;
  std::string device = "cpu";  // or "cuda"
  int ranks = 1;
  int replicas = 1;
  int threads = 1;
};

/// Makes `runs`/NAME/NNN with the next free number, recipe.yaml, source/, run.json, checkpoints/,
/// and points `runs`/NAME/latest at it. Returns its absolute path. Throws an Error (Exit::data)
/// that names the folder when it cannot be written.
std::string make_run_folder(const std::string& runs, const RunStart& start);

/// Notes in run.json that a run goes on in its folder; the result of the attempt before goes to its
/// "attempts".
void note_resumed(const std::string& folder, const RunStart& start);

void note_data(const std::string& folder, const std::string& digest);
/// How training ended: "done", "interrupted", ..., and the last evaluation.
void note_result(const std::string& folder, const std::string& reason, const NamedValues& metrics);
/// The evaluation that was best by the metric that is watched.
void note_best(const std::string& folder, const BestEvaluation& best);
void note_exit(const std::string& folder, int exit_code);

/// How a run ended, from its run.json; no exit code: it has not, or was cut.
struct RunEnd {
  std::optional<int> exit_code;
  std::string result;   // "done", "interrupted", ...; empty: training did not end
  NamedValues metrics;  // of the last evaluation
  std::optional<BestEvaluation> best;
};
RunEnd run_end(const std::string& folder);

/// The newest run of `runs`/NAME with the same resolved recipe that ended before it was done and
/// that no process works on.
std::optional<std::string> unfinished_run(const std::string& runs, const std::string& name,
                                          const std::string& recipe_text);

/// Keeps other processes from working in a run folder while it lives, across forks. Throws an Error
/// (Exit::data) when another one does for three seconds: ranks outlive a killed launcher by less.
std::unique_ptr<FileLock> lock_run(const std::string& folder);

}  // namespace ddptrain
