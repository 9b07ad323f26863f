// The folder that a run leaves behind: runs/NAME/NNN, never overwritten. Each of its files has one
// owner here, with its name, its struct, its writer and its reader:
//
//   run.json      run_json.h      RunJson: how it was started, what its last start came to
//   recipe.yaml   run_recipe.h    the recipe as resolved (its name: recipe/run_folders.h)
//   data.json     data_json.h     DataCounts: samples of each split and class
//   events.jsonl  events_jsonl.h  RunEvent, a line; run_history.h has what follows from all
//   metrics.csv   metrics_csv.h   a row per evaluation; BestEvaluation
//   samples.json  samples_json.h  SamplesFile: what weights made of single samples
//   transfer.json transfer.h      Transfer: what became of the weights that it started from
//   state.json    state_json.h    SavedState, in a checkpoint
//
// A record names its keys once, in `fields` (json_fields.h), for its writer and its readers. What a
// process knows travels in memory: rank 0 reads run.json where training begins and writes it again
// at the end (train/run/recorded_run.h); metrics.csv is read for the rows of earlier starts alone.
// RunRecord (run_record.h) is what a reader makes of a folder, whole or torn.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recipe/layers/layers.h"
#include "runs/run_json.h"
#include "runs/run_record.h"

namespace ddptrain {

class FileLock;

/// What is known of a run before it starts.
struct RunStart {
  std::string launch;                     // identifies one start of the program
  std::string name;                       // of the recipe
  std::string recipe_text;                // resolved, as YAML
  std::vector<Source> sources;            // files as written
  std::vector<std::string> command_line;  // program first
  std::int64_t seed = 0;
  std::string device = "cpu";  // or "cuda"
  int ranks = 1;
  int replicas = 1;
  int threads = 1;
  std::optional<std::string> transport = {};  // of what ranks exchange; none: one rank
  std::optional<RunOrigin> origin;
  bool holds_secrets = false;  // the sources have passwords in them
  bool new_recipe = false;     // that of the folder is replaced: a resumed run was changed
};

/// "host 12345 2026-11-22T08:00:00Z": different for each start of the program.
std::string launch_name();

/// Makes `runs`/NAME/NNN with the next free number, recipe.yaml, source/, run.json, checkpoints/.
/// Its run.json has "began": null until begin_run(). Returns its absolute path. Throws an Error
/// (Exit::data) that names the folder when it cannot be written.
std::string make_run_folder(const std::string& runs, const RunStart& start);

/// The same at a path that is known before; replaces what a start that was killed left half-made
/// there.
void make_run_folder_at(const std::string& folder, const RunStart& start);

/// Writes recipe.yaml; only the owner can read one that has the password of an address in it.
void write_recipe(const std::string& folder, const std::string& recipe_text);

/// Notes in run.json that training begins, on data with this digest: every rank has built and
/// restored what it needs. The first time, `runs`/NAME/latest points at the folder; later, the
/// result of the attempt before goes to its "attempts". Of a launch that began already, whose ranks
/// are started again, what they came to is taken back. Returns what the file then holds.
RunJson begin_run(const std::string& folder, const RunStart& start, const std::string& data_digest);

/// Writes run.json a last time: `run` as begin_run() returned it, with what it came to.
void end_run(const std::string& folder, RunJson run);

/// The exit code of a launch whose ranks are gone: where none came to write its end, or it is
/// another. Nothing where this launch did not begin the run.
void note_exit(const std::string& folder, const RunStart& start, int exit_code);

/// What a launch that ended without begin_run() leaves: a folder that it made is removed, or where
/// `keep_logs`, marked as one that failed to start; any other stays as it is.
void abandon_run(const std::string& folder, const RunStart& start, int exit_code, bool keep_logs);

/// Moves what is in checkpoints/ to the first free checkpoints.damaged-N.
void set_checkpoints_aside(const std::string& folder);

/// How a run that was made here ended. An Error (Exit::data) where its run.json cannot be read.
RunRecord run_end(const std::string& folder);

/// The runs of `runs`/NAME that ended before they were done and that no process works on, the
/// newest first.
std::vector<std::string> unfinished_runs(const std::string& runs, const std::string& name);

/// The newest of them with the same resolved recipe.
std::optional<std::string> unfinished_run(const std::string& runs, const std::string& name,
                                          const std::string& recipe_text);

/// Whether a process works in a run folder.
bool is_locked(const std::string& folder);
/// Whether a path is that of the lock of a folder.
bool is_run_lock(const std::string& path);

/// Keeps other processes from working in a run folder while it lives, across forks. Throws an Error
/// (Exit::data) when another one does for three seconds: ranks outlive a killed launcher by less.
std::unique_ptr<FileLock> lock_run(const std::string& folder);

}  // namespace ddptrain
