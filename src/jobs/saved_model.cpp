#include "jobs/saved_model.h"

#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "train/loop/state.h"

namespace ddptrain {

SavedModel load_saved_model(const std::string& checkpoint, WhichWeights which) {
  auto loaded = load_checkpoint(checkpoint);
  if (which != WhichWeights::own && loaded.ema.empty())
    throw Error(Exit::recipe, "--ema: this run keeps no average of weights (train.ema, train.swa)");
  SavedModel saved{{}, saved_data(loaded)};
  saved.weights = std::move(loaded.model);
  if (which == WhichWeights::own) return saved;
  for (auto& weight : saved.weights)
    for (const auto& mean : loaded.ema)
      if (mean.name == weight.name) weight.tensor = mean.tensor;
  return saved;
}

Calls asked_calls(const Arguments& arguments) {
  return arguments.has(kAllowCalls.name) ? Calls::left_out : Calls::refused;
}

}  // namespace ddptrain
