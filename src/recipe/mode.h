// The ways in which devices train together, and what each of them has. Whoever wants to know asks
// for a property, never for a mode: a new mode then changes nothing elsewhere.
#pragma once

#include <span>
#include <string_view>

namespace ddptrain {

enum class Mode { none, dp, ddp };
std::span<const std::string_view> names(Mode);

/// A process for each device, which meet in collectives.
bool has_ranks(Mode mode);
/// One process with a copy of the model on each device.
bool has_replicas(Mode mode);
/// One of the two; otherwise one device trains.
bool has_devices(Mode mode);

}  // namespace ddptrain
