// Stochastic weight averaging: when weights enter the average, and its batch-norm statistics.
#pragma once

#include <functional>

#include "train/training.h"

namespace ddptrain {

/// Gives a built Training what the recipe's train.swa asks for, if anything: the average, and the
/// rate that is held. An Error (Exit::recipe) where no average would ever be made.
void build_swa(Training& training);

/// Whether the weights enter the run's average after `step` steps; always with an EMA.
bool average_is_due(const Training& training, std::int64_t step);

/// torch.optim.swa_utils.update_bn for the average: means over the batches of one pass over train
/// in the order of the last epoch, cut alike on any number of ranks, which share the batches. Does
/// nothing where it is not wanted, the average is empty, or the model has no batch norm. All ranks
/// call it together; `alive` is called after every batch.
void update_average_statistics(Training& training, const std::function<void()>& alive = {});

}  // namespace ddptrain
