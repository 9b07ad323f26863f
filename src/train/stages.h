// The stages of a run: what trains when, and at which rates.
#pragma once

#include "models/layer_groups.h"
#include "train/training.h"

namespace ddptrain {

/// The stages for the model, its layer groups, the optimiser and the length that were built.
std::vector<TrainingStage> build_stages(const Training& training, const LayerGroups& groups);

/// Where the step about to be made is another stage's than the one before: freezes and thaws, and
/// says what trains. All ranks call it before every step.
void enter_stage(Training& training);

/// The rates of the step about to be made.
Rates rates_of(const Training& training);

}  // namespace ddptrain
