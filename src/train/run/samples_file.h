// What weights of a run made of single samples, for the run folder.
#pragma once

#include <string>
#include <vector>

#include "base/output/named_table.h"
#include "runs/samples_json.h"

namespace ddptrain {

struct Training;

/// The weights that scored the validation split; index, loss, truth, prediction, probability and
/// the next one's of each, and what a person may see of the worst mistakes and the least certain
/// samples. Nothing is written where there are none; a warning says why where they cannot be.
void write_samples(const Training& training, const std::vector<SampleOutcome>& samples,
                   const ScoredWeights& weights, const std::string& folder);

}  // namespace ddptrain
