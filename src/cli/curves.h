// The rates of a run, before it is made.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/catalog.h"
#include "recipe/period.h"
#include "recipe/recipe.h"

namespace ddptrain {

/// What the step after `step` others is made with; the rate is that of the last layer group.
struct RatesAt {
  std::int64_t step = 0;
  double lr = 0;
  std::optional<double> momentum;  // where the optimiser has one
};

/// At most `points` steps, evenly over the run, the first and the last among them. `length.total`
/// is the run's.
std::vector<RatesAt> rates_over_run(const Recipe& recipe, const RunLength& length,
                                    const Catalogs& catalogs, std::int64_t points);

}  // namespace ddptrain
