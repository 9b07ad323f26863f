// docs/recipes.md, made from bench/recipes.yaml (whose settings a recipe has), the recipes (the
// settings themselves) and bench/records (what runs came to).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ddptrain::test {

/// A recipe, or one with overrides, as bench/recipes.yaml has it.
struct RecipeRow {
  std::string recipe;  // "adult": recipes/adult.yaml
  std::vector<std::string> overrides;
  std::string source;                 // Markdown
  std::vector<std::string> settings;  // keys, "optimizer.lr"
  std::string published;
  std::string metric;  // of the results: "valid/accuracy"; empty where there are none

  std::string file() const;
  /// The same recipe, or one with more overrides, with all defaults, as YAML.
  std::string resolved(const std::vector<std::string>& more = {}) const;
};

std::vector<RecipeRow> recipe_rows();

/// The lines of bench/records/RECIPE.jsonl that are of this row, runs first and then the peer's.
std::vector<nlohmann::json> records_of(const RecipeRow& row);

std::string recipes_page();

}  // namespace ddptrain::test
