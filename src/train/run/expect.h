// What a recipe expects of its metrics, beside what they came to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "callbacks/callback.h"
#include "recipe/recipe.h"

namespace ddptrain {

struct Expectation {
  std::string metric;           // as the recipe names it
  std::string bounds;           // "at least 0.8, at most 1"
  std::optional<double> value;  // empty: not computed
  bool met = false;
};

/// A metric or loss as people read it: six digits that matter.
std::string short_metric(double value);

/// One for each entry of `expect`; a bare name means the validation split.
std::vector<Expectation> expectations(const Recipe& recipe, const NamedValues& metrics);

}  // namespace ddptrain
