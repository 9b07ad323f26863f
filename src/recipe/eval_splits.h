// The samples that are scored in addition to the validation split of `data`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recipe/recipe.h"

namespace ddptrain {

inline constexpr std::string_view kTestSplit = "test";  // the name of eval.test

/// One of eval.splits, or eval.test.
struct SplitSection {
  std::string name;
  std::string path;      // "eval.splits.sketch"
  Choice<Dataset> data;  // a whole section, whose validation split is scored
};

std::string split_path(const std::string& name);

/// Those of eval.splits by name, then eval.test.
std::vector<SplitSection> split_sections(const Recipe& recipe);

/// Puts a section back where split_sections() found it.
void set_split(Recipe& recipe, const SplitSection& section);

/// Leaves none: what scores nothing needs no more than `data`.
void drop_splits(Recipe& recipe);

/// "sketch" of "sketch_ema_tta": which samples the scores under a prefix are of.
std::string samples_of(std::string prefix);

}  // namespace ddptrain
