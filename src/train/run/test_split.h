// The test split of a run: scored once, with the weights that are its result.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "train/step/evaluate.h"

namespace ddptrain {

struct RunState;

struct TestScores {
  Evaluation found;
  std::int64_t step = 0;  // when the weights were so
};

/// Scores eval.test with the best weights where checkpoint.keep_best keeps them in the folder
/// `checkpoints` (then the model and its average have them afterwards), else with the model as it
/// is. All ranks call it together, after rank 0 has written its checkpoints. Nothing where `asked`
/// made all leave early; an Error (Exit::data) where the best checkpoint is gone or damaged.
std::optional<TestScores> score_test(const Training& training, const RunState& state,
                                     const std::string& checkpoints,
                                     const std::function<bool()>& asked,
                                     const std::function<void()>& alive);

}  // namespace ddptrain
