// A run as callbacks see it, and what they may ask of its loop.
#pragma once

#include "callbacks/callback.h"

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

}  // namespace ddptrain
