// The average of a run's weights in the place of its own.
#pragma once

#include <optional>
#include <string>

#include "train/step/swapped.h"

namespace ddptrain {

struct Training;

/// Whether there is an average and weights have entered it; until then it is the model itself.
bool has_average(const Training& training);

/// What follows the name of a split in scores of the average: "_ema" or "_swa".
std::string average_suffix(const Training& training);

/// Gives the model the average of its parameters while it lives. Where ranks share them, all make
/// and end it together.
class AveragedParameters {
 public:
  explicit AveragedParameters(Training& training);
  ~AveragedParameters() noexcept(false);
  AveragedParameters(const AveragedParameters&) = delete;
  AveragedParameters& operator=(const AveragedParameters&) = delete;

 private:
  void exchange_pieces();

  Training& t_;
  std::optional<Swapped> swapped_;  // none: ranks share the parameters
};

/// With the buffers of the average, too.
class AverageInPlace {
 public:
  explicit AverageInPlace(Training& training);

 private:
  AveragedParameters parameters_;
  Swapped buffers_;
};

}  // namespace ddptrain
