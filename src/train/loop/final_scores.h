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
