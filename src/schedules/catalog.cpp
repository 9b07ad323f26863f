#include "schedules/catalog.h"

namespace ddptrain {

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
