// Traits that say more than yes: "named top_{k}" is the trait `named` with the argument "top_{k}".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ddptrain {

struct EntryBase;

/// Nothing where the component has no such trait.
std::optional<std::string> trait_argument(const EntryBase& entry, std::string_view trait);

}  // namespace ddptrain
