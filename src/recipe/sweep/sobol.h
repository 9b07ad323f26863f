// Sobol's sequence: points that fill a cube more evenly than random ones.
#pragma once

#include <cstdint>

#include "recipe/sweep_section.h"

namespace ddptrain {

inline constexpr int kSobolDimensions = kMostSobolKeys;

/// Coordinate `dimension` (from 0) of point `index` (from 0, the origin) in [0, 1): the sequence in
/// Gray-code order with the direction numbers new-joe-kuo-6 (Joe and Kuo, SIAM J. Sci. Comput. 30,
/// 2008), as scipy.stats.qmc.Sobol without scrambling.
double sobol(std::uint32_t index, int dimension);

}  // namespace ddptrain
