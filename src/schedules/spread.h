// Rates that grow from the first layers to the last (discriminative learning rates, Howard and
// Ruder 2018).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ddptrain {

/// A rate for each of `groups` parameter groups, as fastai reads slice(first, last): a geometric
/// row from `first` to `last`; without `first`, last / 10 for all but the last group. For one group
/// `last`.
std::vector<double> spread_rates(std::optional<double> first, double last, std::int64_t groups);

}  // namespace ddptrain
