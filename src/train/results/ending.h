// What the end of a run says: how it went, what it came to, and what may follow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "runs/run_record.h"
#include "train/loop/run_result.h"

namespace ddptrain {

struct RunState;
struct Training;

/// How a run ended. Of other ranks than the first what all know: result, code, folder and last.
struct RunEnding {
  RunResult result;
  Exit code = Exit::done;  // `done`, or `expect` where it is short of what the recipe expects
  bool begun = true;       // false: asked to stop before the first step; nothing of it is kept
  std::string folder;      // of the run
  NamedValues last;        // of the last evaluation
  std::optional<BestEvaluation> best;
  double seconds = 0;        // since this start
  RunDuration earlier = {};  // of earlier starts; not known: there was none
  std::int64_t step = 0;     // optimizer steps made
  std::int64_t total_steps = 0;
  double epoch = 0;
  std::int64_t evaluated = 0;  // step of the last evaluation
  std::int64_t seed = 0;
  std::int64_t training_samples = 0;  // 0: not known
  std::int64_t validation_samples = 0;
  bool report = false;          // report.html is written too
  bool predicts_files = false;  // `predict` wants a folder for them
  bool writes_text = false;     // `generate` shows it
  std::string input;            // a file or folder that `predict` could take; empty: none is known
};

/// Where the run stands, and what it is of.
void describe(RunEnding& ending, const Training& training, const RunState& state);

/// The exit code of its process: of the signal that ended it, else its own.
int exit_code(const RunEnding& ending);

/// The scores of the last evaluation and of the test split.
NamedValues scores_of(const RunEnding& ending);

/// The scores of the weights that are the run's result, which `expect` judges; of a run that is not
/// complete scores_of().
NamedValues result_scores(const RunEnding& ending);

/// "done in 1 min 3 s: step 120, epoch 3", "stopped in 12.1 s at step 60 of 120: early_stopping:
/// ..."
std::string headline(const RunEnding& ending);

/// Best and last metrics side by side, and tables as far as `columns` can show them (0: any
/// width), then those of the test split, each under the weights that it is of; empty where nothing
/// was evaluated.
std::vector<std::string> results(const RunEnding& ending, std::size_t columns);

/// Where the weights and the report are, and the commands that may follow, as they can be typed in
/// the current folder: report, predict and export, or resume where the run was interrupted.
std::vector<std::string> what_next(const RunEnding& ending);

/// The path that is shorter to type: relative where it is below the current folder.
std::string typed_path(const std::string& path);

}  // namespace ddptrain
