#include "jobs/export/averaged_weights.h"

#include "base/error.h"
#include "checkpoint/checkpoint.h"

namespace ddptrain {

std::vector<NamedTensor> averaged_weights(const Checkpoint& checkpoint) {
  if (checkpoint.ema.empty())
    throw Error(Exit::recipe, "--ema: this run keeps no average of weights (train.ema, train.swa)");
  auto weights = checkpoint.model;
  for (auto& weight : weights)
    for (const auto& mean : checkpoint.ema)
      if (mean.name == weight.name) weight.tensor = mean.tensor;
  return weights;
}

}  // namespace ddptrain
