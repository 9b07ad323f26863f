#include "train/step/step.h"

#include <utility>

#include "distributed/engine.h"
#include "train/run_state.h"
#include "train/step/account.h"
#include "train/step/device_step.h"
#include "train/step/host_step.h"
#include "train/training.h"

namespace ddptrain {

double StepReport::loss() const {
  return totals.weight > 0 ? totals.loss_sum / totals.weight
                           : std::numeric_limits<double>::quiet_NaN();
}

std::unique_ptr<Stepper> make_stepper(Training& training, const RunState& state,
                                      Stepper::GradientHook hook) {
  const auto first = training.engine->model().named_parameters().front();
  return first.tensor.device().is_cpu() ? make_host_stepper(training, state, std::move(hook))
                                        : make_device_stepper(training, state, std::move(hook));
}

StepReport make_step(Training& training, RunState& state, std::int64_t micro_steps) {
  const auto stepper = make_stepper(training, state);
  stepper->begin({state.position.step, state.position.epoch}, micro_steps);
  stepper->finish(false);
  auto report = stepper->read();
  account(training, state, report, training.length.global);
  return report;
}

}  // namespace ddptrain
