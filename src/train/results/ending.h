// What the end of a run says: how it went, what it came to, and what may follow.
#pragma once

#include <string>
#include <vector>

#include "train/loop/run_result.h"

namespace ddptrain {

struct RunState;
struct Training;

/// Where the run stands, and what it is of.
void describe(RunResult& ending, const Training& training, const RunState& state);

/// The exit code of its process: of the signal that ended it, else its own.
int exit_code(const RunResult& ending);

/// The scores of the last evaluation and of the test split.
NamedValues scores_of(const RunResult& ending);

/// The scores of the weights that are the run's result, which `expect` judges; of a run that is not
/// complete scores_of().
NamedValues result_scores(const RunResult& ending);

/// "done in 1 min 3 s: step 120, epoch 3", "stopped in 12.1 s at step 60 of 120: early_stopping:
/// ..."
std::string headline(const RunResult& ending);

/// Best and last metrics side by side, and tables as far as `columns` can show them (0: any
/// width), then those of the test split, each under the weights that it is of; empty where nothing
/// was evaluated.
std::vector<std::string> results(const RunResult& ending, std::size_t columns);

/// Where the weights and the report are, and the commands that may follow, as they can be typed in
/// the current folder: report, predict and export, or resume where the run was interrupted.
std::vector<std::string> what_next(const RunResult& ending);

/// The path that is shorter to type: relative where it is below the current folder.
std::string typed_path(const std::string& path);

}  // namespace ddptrain
