// run.json of a run folder: how a run was started, and what its last start came to. It is written
// three times by a start: where the folder is made, so that a start that is killed leaves a name;
// where training begins; and at the end. The end of a rank or of a start that failed is written by
// its parent process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runs/best_evaluation.h"

namespace ddptrain {

/// The checkpoint of another run that a run continues from.
struct RunOrigin {
  std::string run;         // its folder
  std::string checkpoint;  // "step-00000740"
};

/// What is kept of a start once another one follows; each may be missing in files of before.
struct EarlierStart {
  std::optional<std::string> started, began, ended;  // "2026-03-01T12:34:56Z"
  std::optional<double> seconds;
  std::optional<std::string> result;
  std::optional<int> exit_code;
  std::optional<std::vector<std::string>> command;
  std::optional<std::string> host;
  std::optional<int> ranks;
  bool whole_seconds = false;  // its seconds are known so
};

/// What a file of before lacks is empty.
struct RunJson {
  std::int64_t format = 1;
  std::optional<std::string> name;  // of the recipe
  std::optional<std::int64_t> seed;
  std::optional<std::string> recipe_digest;  // of the recipe as it was asked for
  std::optional<std::string> data_digest;
  // Of the last start:
  std::optional<std::string> launch;                 // identifies one start
  std::optional<std::string> started, began, ended;  // began: none while it builds and restores
  std::optional<double> seconds;                     // that training took
  std::optional<std::string> result;                 // "done", "interrupted", ...
  std::optional<int> exit_code;
  std::optional<std::vector<std::string>> command;
  std::optional<std::string> folder;  // in which the command was given
  std::optional<std::string> ddptrain, torch, compiler, host, device;
  std::optional<int> ranks, replicas, threads;
  std::optional<std::string> transport;   // of several ranks: "shared memory", "gloo", "nccl"
  NamedValues metrics;                    // of the last evaluation, and of the test split
  std::optional<std::int64_t> evaluated;  // step of the last evaluation
  std::optional<BestEvaluation> best;
  std::optional<RunOrigin> origin;
  std::vector<EarlierStart> attempts;
};

/// Whether training began. Files of before there was "began" are of runs that had.
bool has_begun(const RunJson& run);

/// Of the file's text; keys of other types than ours are as if they were not there. Nothing where
/// it is torn or no object.
std::optional<RunJson> run_json_of(const std::string& text);

/// That of a run folder. An Error (Exit::data) where it is missing or torn.
RunJson read_run_json(const std::string& folder);

void write_run_json(const RunJson& run, const std::string& folder);

}  // namespace ddptrain
