// A schedule whose end is held for stochastic weight averaging.
#pragma once

#include <cstdint>
#include <memory>

#include "recipe/recipe.h"
#include "schedules/schedule.h"

namespace ddptrain {

/// In optimizer steps.
struct SwaRate {
  double lr = 0;
  SwaAnneal anneal = SwaAnneal::cosine;
  std::int64_t start = 0;  // the steps from this one on
  std::int64_t over = 1;   // how many it takes to get from the schedule's rate there to `lr`
};

/// torch.optim.swa_utils.SWALR after `schedule`, which it owns: k steps after the start the rate is
/// lr * a + before * (1 - a) with a = (1 - cos(pi * t)) / 2 or t, t = min(1, k / over), and
/// `before` what the schedule gives at the start. Momentum stays the schedule's.
std::unique_ptr<Schedule> swa_schedule(std::unique_ptr<Schedule> schedule, const SwaRate& rate);

}  // namespace ddptrain
