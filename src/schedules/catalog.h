// The schedules, one exported function each.
#pragma once

#include "schedules/schedule.h"

namespace ddptrain {

Entry<Schedule> combined_schedule();
Entry<Schedule> constant_schedule();
Entry<Schedule> cosine_schedule();
Entry<Schedule> cosine_restarts_schedule();
Entry<Schedule> cyclic_schedule();
Entry<Schedule> exponential_schedule();
Entry<Schedule> flat_cosine_schedule();
Entry<Schedule> inverse_sqrt_schedule();
Entry<Schedule> linear_schedule();
Entry<Schedule> multi_step_schedule();
Entry<Schedule> one_cycle_schedule();
Entry<Schedule> polynomial_schedule();
Entry<Schedule> step_schedule();
Entry<Schedule> wsd_schedule();

}  // namespace ddptrain
