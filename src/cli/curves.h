// The rates of a run, before it is made.
#pragma once

#include <cstdint>
#include <vector>

#include "config/catalog.h"
#include "schedules/rate_plan.h"

namespace ddptrain {

/// The rate and momentum that an optimizer of this recipe has, read from its options alone.
ScheduleContext optimizer_rates(const Recipe& recipe, const Catalogs& catalogs);

/// At most `points` steps, evenly over the run, the first and the last among them. `length.total`
/// is the run's.
std::vector<RatesAt> rates_over_run(const Recipe& recipe, const RunLength& length,
                                    const Catalogs& catalogs, std::int64_t points);

}  // namespace ddptrain
