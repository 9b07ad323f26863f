// What `bench` prints.
#pragma once

#include <string>
#include <vector>

#include "jobs/bench/step_times.h"

namespace ddptrain {

/// The parts of a step, what it reaches of the machine's limits, and what limits it; the table in
/// lines of at most `columns` (0: any width).
std::string parts_text(const StepTimes& times, std::size_t columns = 0);

/// A row for each number of devices: samples a second, speed-up and efficiency against the first.
std::string speed_up_text(const std::vector<StepTimes>& all, std::size_t columns = 0);

/// Both as one object.
std::string bench_json(const std::vector<StepTimes>& all);

}  // namespace ddptrain
