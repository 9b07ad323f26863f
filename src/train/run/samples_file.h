// samples.json of a run folder: what the last evaluation made of single samples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/step/sample_record.h"

namespace ddptrain {

struct Training;

/// Index, loss, truth, prediction, probability and the next one's of each, and what a person may
/// see of the worst mistakes and the least certain samples. Nothing is written where there are
/// none; a warning says why where they cannot be.
void write_samples(const Training& training, const std::vector<SampleOutcome>& samples,
                   std::int64_t step, const std::string& folder);

}  // namespace ddptrain
