// A run that continues on other devices than it began on: what was `auto` is decided again.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace ddptrain {

/// Whether overrides choose devices.
bool names_devices(const std::vector<std::string>& overrides);

/// Whether a recipe could not be placed because of the devices, or of how they share the batch.
bool is_of_devices(const Error& error);

/// `given` behind overrides by which the recipe in a run folder leaves open what it notes as `auto`
/// and what follows from devices: their kind and number, batch.micro, sync_bn, threads, layout; and
/// with a mode for several devices where `given` asks for some. The global batch and the precision
/// stay, and of models with batch norm, which depend on it, the number of passes of a step
/// (batch.accumulate). An Error (Exit::recipe) where the devices that `given` asks for cannot share
/// the batch.
std::vector<std::string> with_devices_open(const std::string& folder,
                                           const std::vector<std::string>& given);

/// The same in the order in which they are to be tried: then with fewer devices, since all that are
/// there may be unable to share the batch.
std::vector<std::vector<std::string>> tried_on_devices(const std::string& folder,
                                                       const std::vector<std::string>& given);

/// A recipe.yaml with the comments of the one before it, on lines that both have: what was `auto`
/// once is decided again on other devices, however often the run was resumed.
std::string with_marks_of(const std::string& before, const std::string& text);

}  // namespace ddptrain
