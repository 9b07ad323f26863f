// A built-in table of ratings that users gave to items, so that a first recommendation needs no
// download.
#pragma once

#include <cstdint>
#include <string>

namespace ddptrain {

struct RatingsOptions {
  std::uint64_t seed = 1;
  int rows = 20000;
  int users = 400;
  int items = 200;
};

/// The table as CSV: user, item and rating, which is 0.5 to 5 in steps of a half. Ratings are 3.2,
/// plus what is particular to the user and to the item (deviation 0.3 each), plus the product of
/// three traits of both (deviation 0.7), plus noise (deviation 0.3), rounded. No pair is there
/// twice. The same bytes for the same options everywhere. Throws an Error (Exit::recipe) where
/// there are fewer pairs than rows.
std::string ratings_csv(const RatingsOptions& options = {});

/// Writes `folder`/ratings.csv. Returns false, and does nothing, where it is there already. Throws
/// an Error (Exit::data) where that file holds anything else.
bool make_ratings(const std::string& folder, const RatingsOptions& options = {});

}  // namespace ddptrain
