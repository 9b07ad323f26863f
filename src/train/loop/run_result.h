// What a start of a run came to: training fills it, then the rank that trained.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "runs/run_record.h"
#include "train/step/evaluate.h"

namespace ddptrain {

/// The reason of a run that ended at Hooks::pause_at. Resumed, it is the run without a pause, to
/// the bit: nothing is evaluated, averaged or tested that would not have been.
inline constexpr const char* kPaused = "paused";

struct RunResult {
  // Of train(), the same on every rank:
  std::string reason;  // "done", "stopped by early_stopping: ...", "interrupted", "paused"
  int signal = 0;      // that ended it
  /// Of a complete run the weights that are its result, else those of the last evaluation that it
  /// made; no name: it made none.
  ScoredWeights weights = {};
  Evaluation scored = {};          // by them, of the validation split
  std::optional<Evaluation> test;  // of a complete run, by the same weights
  // Of run_rank(), on every rank:
  Exit code = Exit::done;  // `done`, or `expect` where it is short of what the recipe expects
  bool begun = true;       // false: asked to stop before the first step; nothing of it is kept
  std::string folder;      // of the run
  NamedValues last;        // of the last evaluation
  // On rank 0:
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

}  // namespace ddptrain
