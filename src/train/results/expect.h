// What a recipe expects of its metrics, compared with their values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/named_values.h"
#include "base/output/named_table.h"
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

/// Whether all are met by the scores of these weights; an error is logged for each that is not.
bool meets(const Recipe& recipe, const NamedValues& metrics, const ScoredWeights& weights);

}  // namespace ddptrain
