#include "runs/run_recipe.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets.h"
#include "config/yaml/reader.h"
#include "recipe/run_folders.h"

namespace ddptrain {
namespace {

constexpr std::size_t kLongestRecipe = std::size_t{16} << 20;

void flatten(const Node& node, const std::string& key, NamedTexts& options) {
  if (node.is_map() && !node.members.empty()) {
    for (const auto& member : node.members)
      flatten(member.value, key.empty() ? member.key : key + "." + member.key, options);
  } else if (node.is_list() && !node.items.empty()) {
    for (std::size_t i = 0; i < node.items.size(); ++i)
      flatten(node.items[i], fmt::format("{}[{}]", key, i), options);
  } else {
    const auto empty = node.is_map() ? "{}" : node.is_list() ? "[]" : "null";
    options.emplace_back(key, without_secrets(node.is_scalar() ? node.text : empty));
  }
}

/// Nothing where it is no YAML.
std::shared_ptr<const NamedTexts> read_section(const std::string& text) {
  const auto read = read_yaml(text, kRecipeYaml);
  if (!read.problems.empty()) return nullptr;
  NamedTexts options;
  if (read.tree.is_map()) flatten(read.tree, "", options);
  return std::make_shared<const NamedTexts>(std::move(options));
}

/// Where the next line begins that is no part of what came before: a key of the outermost map.
std::size_t section_end(const std::string& text, std::size_t begin) {
  for (auto at = text.find('\n', begin); at != std::string::npos; at = text.find('\n', at + 1)) {
    const auto next = at + 1 < text.size() ? text[at + 1] : ' ';
    const bool is_key = (next >= 'a' && next <= 'z') || next == '"' || next == '\'';
    if (is_key) return at + 1;
  }
  return text.size();
}

bool is_place_of_results(const std::string& key) {
  return key == "name" || key.starts_with("output.");
}

bool is_seed(const std::string& key) { return key == "seed" || key == "data_seed"; }

/// The options of each run that are in no section that all runs share.
std::vector<NamedTexts> own_options(const std::vector<RunOptions>& runs) {
  std::unordered_map<const NamedTexts*, std::size_t> uses;
  for (const auto& run : runs)
    for (const auto& section : run) ++uses[section.get()];
  std::vector<NamedTexts> own(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const auto& section : runs[i])
      if (uses[section.get()] < runs.size())
        own[i].insert(own[i].end(), section->begin(), section->end());
  return own;
}

/// All but seeds, as one text.
std::string without_seeds(const NamedTexts& options) {
  std::string kind;
  for (const auto& [key, value] : options) {
    if (is_seed(key) || is_place_of_results(key)) continue;
    kind.append(key).push_back('\0');
    kind.append(value).push_back('\0');
  }
  return kind;
}

}  // namespace

std::optional<RunOptions> RecipeReader::options(const std::string& text) {
  RunOptions options;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = section_end(text, begin);
    auto section = text.substr(begin, end - begin);
    auto found = sections_.find(section);
    if (found == sections_.end()) {
      auto read = read_section(section);
      found = sections_.emplace(std::move(section), std::move(read)).first;
    }
    if (!found->second) return {};
    options.push_back(found->second);
  }
  return options;
}

RunOptions RecipeReader::options_of(const std::string& folder) {
  try {
    return options(read_text(folder + "/" + kRecipeYaml, kLongestRecipe)).value_or(RunOptions());
  } catch (const Error&) {
    return {};
  }
}

std::string option_value(const RunOptions& options, const std::string& key) {
  for (const auto& section : options)
    for (const auto& [name, value] : *section)
      if (name == key) return value;
  return "";
}

std::vector<std::string> differing_options(const std::vector<RunOptions>& runs) {
  struct Seen {
    const std::string* value = nullptr;
    std::size_t runs = 0;
    bool differs = false;
  };
  const auto own = own_options(runs);
  std::unordered_map<std::string, Seen> seen;
  std::vector<std::string> keys;  // in the order of the recipes
  for (const auto& run : own)
    for (const auto& [key, value] : run) {
      auto& option = seen[key];
      if (!option.value) option.value = &value, keys.push_back(key);
      option.differs = option.differs || *option.value != value;
      ++option.runs;
    }
  std::erase_if(keys, [&](const std::string& key) {
    const auto& option = seen[key];
    return is_place_of_results(key) || (!option.differs && option.runs == runs.size());
  });
  return keys;
}

std::vector<std::vector<std::size_t>> groups_by_seed(const std::vector<RunOptions>& runs) {
  std::unordered_map<std::string, std::size_t> kinds;
  std::vector<std::vector<std::size_t>> groups;
  const auto own = own_options(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto [found, is_new] = kinds.emplace(without_seeds(own[i]), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(i);
  }
  return groups;
}

}  // namespace ddptrain
