#include "cli/recipe_files.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/text.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 4 << 20;

bool is_yaml(const fs::path& file) {
  const auto ending = lower(file.extension().string());
  return ending == ".yaml" || ending == ".yml";
}

/// Looked for as text, so that a recipe that is no YAML is checked too.
bool is_recipe(const std::string& text) {
  for (const auto& line : split(text, '\n'))
    if (line.starts_with("recipe:") || line.starts_with("extends:")) return true;
  return false;
}

/// Copies of recipes that were good once, or what belongs to another tool.
bool is_left_out(const fs::path& folder) {
  return folder.filename().string().starts_with('.') || fs::exists(folder / "run.json");
}

}  // namespace

std::vector<std::string> recipes_below(const std::string& folder, std::size_t& others) {
  std::vector<std::string> files;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, options), end; at != end; ++at) {
    if (at->is_directory() && is_left_out(at->path())) at.disable_recursion_pending();
    if (!at->is_regular_file() || !is_yaml(at->path())) continue;
    if (at->file_size() <= kMostBytes && is_recipe(read_text(at->path().string())))
      files.push_back(at->path().lexically_normal().string());
    else
      ++others;
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> recipe_files(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const auto& word : words) {
    if (!fs::is_directory(word)) {
      files.push_back(word);
      continue;
    }
    std::size_t others = 0;
    const auto below = recipes_below(word, others);
    const auto left_out = plural(static_cast<std::int64_t>(others), "other YAML file");
    if (below.empty())
      throw Error(Exit::recipe, "'" + word +
                                    "' holds no recipe, no .yaml file with the key 'recipe'" +
                                    (others > 0 ? " or 'extends'; " + left_out : ""));
    if (others > 0) log::info(word + ": " + left_out + " without 'recipe' or 'extends' left out");
    files.insert(files.end(), below.begin(), below.end());
  }
  return files;
}

}  // namespace ddptrain
