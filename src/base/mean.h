// Mean and deviation of a few numbers.
#pragma once

#include <limits>
#include <vector>

namespace ddptrain {

struct Mean {
  double value = std::numeric_limits<double>::quiet_NaN();
  double deviation = std::numeric_limits<double>::quiet_NaN();  // of a sample: over n - 1
};

/// NaN where a number is NaN and where there is none; the deviation of one number is NaN.
Mean mean_of(const std::vector<double>& numbers);

}  // namespace ddptrain
