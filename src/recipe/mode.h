// The modes in which devices train together, and their properties. Other code asks for a property
// and compares no modes, so that a new mode changes nothing elsewhere.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace ddptrain {

/// `automatic` is one of ranks, or none, that a run chooses before it trains
/// (train/build/chosen_mode.h).
enum class Mode { none, dp, ddp, zero1, zero2, fsdp, automatic };
std::span<const std::string_view> names(Mode);
std::string_view name_of(Mode mode);
/// Those with ranks, from the one that shares nothing to the one that shares all.
std::span<const Mode> modes_of_ranks();
/// Those that a check compares with one process: the plain one of ranks, and a recipe's own.
std::vector<Mode> compared_modes(Mode own);
/// Whether a table says it next to a number of devices: not of one device or of plain ranks.
bool is_worth_a_word(Mode mode);
/// What each one is, for `describe` and the schema.
std::string_view modes_sentence();

/// A run chooses it before it trains.
bool is_chosen_by_a_run(Mode mode);
/// What it chooses for one device.
Mode mode_of_one_device();

/// A process for each device, which meet in collectives.
bool has_ranks(Mode mode);
/// Ranks of which each has a part of the optimizer's state, at least.
bool has_shards(Mode mode);
/// Those that have parts of gradients, too, unit by unit: zero2 and fsdp.
bool has_units(Mode mode);
/// The same, or it may become one of them.
bool may_have_shards(Mode mode);
bool may_have_units(Mode mode);
/// One process with a copy of the model on each device.
bool has_replicas(Mode mode);
/// One of the two; otherwise one device trains.
bool has_devices(Mode mode);

}  // namespace ddptrain
