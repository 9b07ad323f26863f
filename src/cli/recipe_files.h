// Which recipes a folder holds.
#pragma once

#include <string>
#include <vector>

namespace ddptrain {

/// The .yaml and .yml files below a folder, in alphabetical order, that are recipes: they have the
/// key `recipe` or `extends`. Hidden folders and folders of runs are left out. `others` counts the
/// YAML files that are none.
std::vector<std::string> recipes_below(const std::string& folder, std::size_t& others);

/// Folders become the recipes below them; a folder without any is an Error.
std::vector<std::string> recipe_files(const std::vector<std::string>& words);

}  // namespace ddptrain
