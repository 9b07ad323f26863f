// What a step changes of the run's state.
#pragma once

#include <cstdint>

namespace ddptrain {

struct RunState;
struct StepReport;
struct Training;

/// Moves the state on by a step that was read, of `samples` over all ranks; a step whose data were
/// lost leaves it as it is. Throws an Error (Exit::non_finite) under policy `stop`, and on all
/// ranks alike one (Exit::data) where the epoch has more bad samples than policy.bad_samples
/// allows.
void account(const Training& training, RunState& state, const StepReport& report,
             std::int64_t samples);

}  // namespace ddptrain
