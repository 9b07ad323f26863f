// The recipes that come with the program, as text within it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// A file of recipes/, named from there: "adult.yaml", "base/imagenette.yaml".
struct BuiltIn {
  std::string_view file;
  std::string_view text;
};

/// All of them, also those that only others extend; defined in a file that the build writes.
const std::vector<BuiltIn>& built_in_files();

/// Without those that only others extend.
std::vector<BuiltIn> built_in_recipes();

/// "adult"
std::string built_in_name(const BuiltIn& recipe);
std::vector<std::string> built_in_names();

/// The first sentence after "# What:", on one line.
std::string what_of(std::string_view recipe_text);

/// A recipe that stands alone: what it extends is merged in, paths begin in the current folder,
/// comments are kept where their lines are. An unknown name is an Error that says what was meant.
std::string starter(const std::string& name);

}  // namespace ddptrain
