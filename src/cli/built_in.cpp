#include "cli/built_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "config/encode.h"
#include "config/yaml/reader.h"
#include "recipe/layers/merge.h"
#include "recipe/layers/option.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".yaml";

const BuiltIn* find_file(const std::string& file) {
  const auto& all = built_in_files();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const BuiltIn& one) { return one.file == file; });
  return found == all.end() ? nullptr : &*found;
}

/// Whether only others extend it.
bool is_base(const BuiltIn& file) { return file.file.find('/') != std::string_view::npos; }

bool is_comment(std::string_view line) { return line.starts_with('#'); }

bool names_schema(std::string_view line) { return line.starts_with("# yaml-language-server:"); }

/// Paths of recipes/ lead to the repository's root, where a starter is taken to lie.
std::string from_root(std::string text, std::string_view file) {
  const std::string up = file.find('/') == std::string_view::npos ? "../" : "../../";
  for (auto at = text.find(up); at != std::string::npos; at = text.find(up, at))
    text.erase(at, up.size());
  return text;
}

/// The comment above the first key, without the line for editors.
std::string head_of(std::string_view text) {
  std::string head;
  for (const auto& line : split(text, '\n')) {
    if (!is_comment(line)) break;
    if (!names_schema(line)) head += line + "\n";
  }
  return head;
}

/// What stands behind "  # " on each line of a file, by the line's number.
std::map<int, std::string> comments_of(std::string_view text) {
  std::map<int, std::string> comments;
  int number = 0;
  for (const auto& line : split(text, '\n')) {
    ++number;
    const auto mark = is_comment(line) ? std::string::npos : line.rfind("  # ");
    if (mark != std::string::npos) comments[number] = line.substr(mark + 4);
  }
  return comments;
}

/// Gives each line's comment to the last value that was written on it.
void note_comments(Node& node, std::map<int, std::string>& comments) {
  for (auto item = node.items.rbegin(); item != node.items.rend(); ++item)
    note_comments(*item, comments);
  for (auto member = node.members.rbegin(); member != node.members.rend(); ++member)
    note_comments(member->value, comments);
  if (!node.items.empty() || !node.members.empty()) return;
  if (auto comment = comments.extract(node.place.line)) node.note = std::move(comment.mapped());
}

/// The file over what it extends; only those of recipes/ can be.
Node merged(const BuiltIn& built_in) {
  const auto text = from_root(std::string(built_in.text), built_in.file);
  auto own = read_yaml(text, std::string(built_in.file)).tree;
  auto comments = comments_of(text);
  note_comments(own, comments);
  Node tree = Node::map();
  if (const auto* extends = own.find("extends")) {
    const auto bases = extends->is_scalar() ? std::vector<Node>{*extends} : extends->items;
    for (const auto& base : bases) {
      const auto name = (fs::path(built_in.file).parent_path() / base.text).lexically_normal();
      const auto* file = find_file(name.string());
      DDP_CHECK(file != nullptr, fmt::format("no built-in recipe '{}'", name.string()));
      merge(tree, merged(*file));
    }
  }
  std::erase_if(own.members, [](const Member& member) { return member.key == "extends"; });
  merge(tree, own);
  return tree;
}

/// In the order in which options are declared.
void sort_keys(Node& recipe) {
  const auto& options = recipe_shape().children;
  const auto rank = [&](const Member& member) {
    return std::find_if(options.begin(), options.end(),
                        [&](const Shape& option) { return option.key == member.key; }) -
           options.begin();
  };
  std::stable_sort(recipe.members.begin(), recipe.members.end(),
                   [&](const Member& a, const Member& b) { return rank(a) < rank(b); });
}

}  // namespace

std::vector<BuiltIn> built_in_recipes() {
  auto recipes = built_in_files();
  std::erase_if(recipes, is_base);
  return recipes;
}

std::string built_in_name(const BuiltIn& recipe) {
  return std::string(recipe.file.substr(0, recipe.file.size() - kSuffix.size()));
}

std::vector<std::string> built_in_names() {
  std::vector<std::string> names;
  for (const auto& recipe : built_in_recipes()) names.push_back(built_in_name(recipe));
  return names;
}

std::string what_of(std::string_view recipe_text) {
  std::string what;
  for (const auto& line : split(head_of(recipe_text), '\n'))
    if (!line.empty()) what += (what.empty() ? "" : " ") + std::string(trim(line.substr(1)));
  constexpr std::string_view start = "What: ";
  if (what.starts_with(start)) what.erase(0, start.size());
  const auto end = what.find(". ");
  if (end != std::string::npos) what.resize(end);
  while (what.ends_with('.')) what.pop_back();
  return what;
}

std::string starter(const std::string& name) {
  const auto* file = find_file(name + std::string(kSuffix));
  if (!file || is_base(*file)) {
    const auto near = nearest(name, built_in_names());
    throw Error(Exit::recipe, "no built-in recipe is called '{}'{}", name,
                did_you_mean(near, "; see 'ddptrain list recipes'"));
  }
  const auto text = from_root(std::string(file->text), file->file);
  if (!read_yaml(text, name).tree.find("extends")) {  // as it was written
    std::string kept;
    for (const auto& line : split(trim(text), '\n'))
      if (!names_schema(line)) kept += line + "\n";
    return kept;
  }
  auto tree = merged(*file);
  sort_keys(tree);
  return head_of(text) + to_yaml(tree);
}

}  // namespace ddptrain
