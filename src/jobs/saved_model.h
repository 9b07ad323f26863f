// The weights of a checkpoint with what they were trained on, for verbs that use its model.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/pytorch/torch_file.h"
#include "cli/verb.h"
#include "models/module.h"
#include "train/training_plan.h"

namespace ddptrain {

enum class WhichWeights { own, averaged };

struct SavedModel {
  std::vector<NamedTensor> weights;
  SavedData data;
};

/// Averaged weights are the averaged parameters over the model's own tensors, buffers where the
/// average has its own; an Error (Exit::recipe) where the run keeps no average.
SavedModel load_saved_model(const std::string& checkpoint, WhichWeights which = WhichWeights::own);

/// Of verbs that read files of weights.
inline constexpr Flag kAllowCalls{
    "--allow-calls", "",
    "read a .pth that asks Python to start programs or open files, without what depends on that"};
Calls asked_calls(const Arguments& arguments);

}  // namespace ddptrain
