// The modes in which devices train together, and their properties. Other code asks for a property
// and compares no modes, so that a new mode changes nothing elsewhere.
#pragma once

#include <span>
#include <string_view>

namespace ddptrain {

enum class Mode { none, dp, ddp };
std::span<const std::string_view> names(Mode);
/// What each one is, for `describe` and the schema.
std::string_view modes_sentence();

/// A process for each device, which meet in collectives.
bool has_ranks(Mode mode);
/// One process with a copy of the model on each device.
bool has_replicas(Mode mode);
/// One of the two; otherwise one device trains.
bool has_devices(Mode mode);

}  // namespace ddptrain
