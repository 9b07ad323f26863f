#include "base/mean.h"

#include <algorithm>
#include <cmath>

namespace ddptrain {

Mean mean_of(const std::vector<double>& numbers) {
  if (numbers.empty()) return {};
  const auto count = static_cast<double>(numbers.size());
  Mean mean;
  double sum = 0, squares = 0;
  for (const double number : numbers) sum += number;
  const bool equal = std::ranges::all_of(numbers, [&](double each) { return each == numbers[0]; });
  mean.value = equal ? numbers[0] : sum / count;  // whose rounding would be a deviation
  for (const double number : numbers) squares += (number - mean.value) * (number - mean.value);
  if (numbers.size() > 1) mean.deviation = std::sqrt(squares / (count - 1));
  return mean;
}

}  // namespace ddptrain
