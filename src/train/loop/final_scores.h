// What a complete run is judged by: the scores of the weights that are its result.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "train/step/evaluate.h"

namespace ddptrain {

struct RunResult;
struct RunState;

/// Gives the model and its average the weights that are a run's result: the best where
/// checkpoint.keep_best keeps them in the folder `checkpoints`, else those that they have. All
/// ranks call it together, after rank 0 has written its checkpoints. Where the best checkpoint is
/// gone a warning says so, or with eval.test an Error (Exit::data); likewise one of a damaged
/// checkpoint.
ScoredWeights take_result_weights(Training& training, const RunState& state,
                                  const std::string& checkpoints);

/// Keeps what weights scored, with their name in every table.
void keep_scores(RunResult& result, const ScoredWeights& weights, Evaluation found);

/// A run that is complete, after its last checkpoint.
struct CompleteRun {
  Training& training;
  const RunState& state;
  const std::string& checkpoints;  // their folder; empty: none are written
};

/// Scores samples in a phase; nothing where all ranks left early.
using Score = std::function<std::optional<Evaluation>(Evaluated, const char* phase)>;

/// Takes the weights that are the run's result and scores them, with eval.test too: on the
/// validation split only where the last evaluation was of others, or was made by an earlier
/// attempt. Calls `report` for each. All ranks call it together.
void conclude(RunResult& result, const CompleteRun& run, const Score& score,
              const std::function<void(Moment, const Evaluation&)>& report);

}  // namespace ddptrain
