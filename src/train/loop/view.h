// A run as callbacks see it, and what they may ask of its loop.
#pragma once

#include <array>

#include "callbacks/callback.h"
#include "distributed/phases.h"

namespace ddptrain {

struct Position;
struct RunLength;
struct Training;

/// Steps, epochs, samples, loss and rate of `view` become those of a position.
void show_position(RunView& view, const Position& at, const RunLength& length);

/// Of the fullest device of this rank.
MemoryUse memory_use(const Training& training);

/// Whether a moment is for observers alone, and not for the callbacks of a recipe.
bool is_for_observers(Moment moment);

/// Whether one of them must be heard before the next step begins.
bool steers(const Callbacks& callbacks);

/// What a PhaseClock has counted, by name of phase; "train" is the rest. Where a device computes,
/// which the host does not wait for, that is all but the loader, evaluation and saving. They sum to
/// the whole.
NamedValues seconds_by_phase(const std::array<double, kPhases + 1>& seconds, bool host_computes);

}  // namespace ddptrain
