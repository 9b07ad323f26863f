// The loss and the metrics of a run, and whether they fit the data and the model.
#pragma once

#include "recipe/targets.h"
#include "train/training.h"

namespace ddptrain {

/// What a dataset's held-out batches say of its targets: whole numbers are classes; others are
/// labels where there are classes to name them, else numbers.
Targets targets_of(const Dataset& data);

/// Makes loss and metrics, "loss" among them. An Error (Exit::recipe) with the place of one that
/// does not take the targets of the data.
void build_scores(Training& training);

/// Goes through one held-out sample as an evaluation does: an Error (Exit::recipe) with the place
/// of a loss or metric that cannot use what the model gives. Better said now than after an epoch.
void try_scores(Training& training);

}  // namespace ddptrain
