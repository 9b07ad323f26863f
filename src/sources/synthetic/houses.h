// A built-in table of made-up houses and their prices, so that a first regression needs no
// download.
#pragma once

#include <cstdint>
#include <string>

namespace ddptrain {

struct HousesOptions {
  std::uint64_t seed = 1;
  int rows = 4000;
};

/// The table as CSV: names, numbers, some of both missing, and the price in thousands, 50 to 950:
/// what the rest says, plus noise whose deviation is 13. Whole numbers alone, so the same
/// bytes for the same options everywhere.
std::string houses_csv(const HousesOptions& options = {});

/// Writes `folder`/houses.csv. Returns false, and does nothing, where it is there already. Throws
/// an Error (Exit::data) where that file holds anything else.
bool make_houses(const std::string& folder, const HousesOptions& options = {});

}  // namespace ddptrain
