#include "schedules/spread.h"

#include <cmath>

namespace ddptrain {

std::vector<double> spread_rates(std::optional<double> first, double last, std::int64_t groups) {
  std::vector<double> rates(static_cast<std::size_t>(groups), last);
  for (std::int64_t i = 0; i + 1 < groups; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(groups - 1);
    rates[static_cast<std::size_t>(i)] =
        first ? *first * std::pow(last / *first, share) : last / 10;
  }
  return rates;
}

}  // namespace ddptrain
