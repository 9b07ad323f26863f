// recipe.yaml of a run folder as options with their values, and how runs differ in them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/named_values.h"

namespace ddptrain {

/// The options of a resolved recipe, "optimizer.lr" with "0.1", in its order and without secrets:
/// those of a section of the recipe each. Recipes of the same reader share the sections in which
/// they are alike.
using RunOptions = std::vector<std::shared_ptr<const NamedTexts>>;

class RecipeReader {
 public:
  /// Nothing where the text is no YAML.
  std::optional<RunOptions> options(const std::string& text);
  /// Of FOLDER/recipe.yaml; none where it is missing or cannot be read.
  RunOptions options_of(const std::string& folder);

 private:
  std::unordered_map<std::string, std::shared_ptr<const NamedTexts>> sections_;  // by their text
};

/// An option's value; empty where the recipe does not have it.
std::string option_value(const RunOptions& options, const std::string& key);

/// The options in which not all runs have the same value; not the run's name, and not where its
/// results go.
std::vector<std::string> differing_options(const std::vector<RunOptions>& runs);

/// The indices of runs whose recipes differ in their seeds alone, in groups of one or more.
std::vector<std::vector<std::size_t>> groups_by_seed(const std::vector<RunOptions>& runs);

}  // namespace ddptrain
