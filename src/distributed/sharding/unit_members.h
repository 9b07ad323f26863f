// Which parameters belong to which unit.
#pragma once

#include <cstddef>
#include <vector>

#include "models/module.h"

namespace ddptrain {

/// Places in the list: of each block those that it owns, and behind them those that are in none.
std::vector<std::vector<std::size_t>> members_of(const std::vector<const Module*>& blocks,
                                                 const std::vector<NamedTensor>& parameters);

}  // namespace ddptrain
