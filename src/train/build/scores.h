// The loss and the metrics of a run, and whether they fit the data and the model.
#pragma once

#include <memory>
#include <vector>

#include "losses/loss.h"
#include "metrics/metric.h"
#include "recipe/targets.h"

namespace ddptrain {

class Dataset;
struct Recipe;
struct Training;

struct Scores {
  std::unique_ptr<Loss> loss;
  std::vector<std::unique_ptr<Metric>> metrics;
};

/// Makes loss and metrics, "loss" among them, and writes into the recipe which ones `auto` stands
/// for. An Error (Exit::recipe) with the place of one that does not take the targets of the data.
Scores build_scores(Recipe& recipe, const Dataset& data);

/// Goes through one held-out sample, and one of each split that is scored too, as an evaluation
/// does: an Error (Exit::recipe) with the place of a loss or metric that cannot use what the model
/// gives. Reported before training, not after an epoch.
void try_scores(Training& training);

}  // namespace ddptrain
