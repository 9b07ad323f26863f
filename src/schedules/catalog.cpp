// The schedules.
#include "schedules/schedule.h"

namespace ddptrain {

Entry<Schedule> combined_schedule();
Entry<Schedule> constant_schedule();
Entry<Schedule> cosine_restarts_schedule();
Entry<Schedule> cosine_schedule();
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

template <>
const Catalog<Schedule>& catalog<Schedule>() {
  static const Catalog<Schedule> schedules({
      combined_schedule(),
      constant_schedule(),
      cosine_schedule(),
      cosine_restarts_schedule(),
      cyclic_schedule(),
      exponential_schedule(),
      flat_cosine_schedule(),
      inverse_sqrt_schedule(),
      linear_schedule(),
      multi_step_schedule(),
      one_cycle_schedule(),
      polynomial_schedule(),
      step_schedule(),
      wsd_schedule(),
  });
  return schedules;
}

}  // namespace ddptrain
