#include "base/mean.h"

#include <cmath>

namespace ddptrain {

Mean mean_of(const std::vector<double>& numbers) {
  if (numbers.empty()) return {};
  const auto count = static_cast<double>(numbers.size());
  Mean mean;
  double sum = 0, squares = 0;
  for (const double number : numbers) sum += number;
  mean.value = sum / count;
  for (const double number : numbers) squares += (number - mean.value) * (number - mean.value);
  if (numbers.size() > 1) mean.deviation = std::sqrt(squares / (count - 1));
  return mean;
}

}  // namespace ddptrain
