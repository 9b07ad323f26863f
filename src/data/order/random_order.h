// Permutations drawn from our own streams. Torch-free.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"

namespace ddptrain {

/// The first `count` of a random permutation of 0 .. n-1, all equally likely (Fisher-Yates).
std::vector<std::int64_t> random_order(std::int64_t n, std::int64_t count, Stream& random);

}  // namespace ddptrain
