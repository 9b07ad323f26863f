// The average of a run's weights in the place of its own.
#pragma once

#include <string>

#include "train/step/swapped.h"

namespace ddptrain {

struct Training;

/// Whether there is an average and weights have entered it; until then it is the model itself.
bool has_average(const Training& training);

/// What follows the name of a split in scores of the average: "_ema" or "_swa".
std::string average_suffix(const Training& training);

/// Gives the model its average, with that one's buffers, while it lives.
class AverageInPlace {
 public:
  explicit AverageInPlace(Training& training);

 private:
  Swapped parameters_, buffers_;
};

}  // namespace ddptrain
