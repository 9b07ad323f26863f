#include "recipe/load/origins.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/text.h"
#include "config/complete.h"
#include "config/shape.h"
#include "recipe/layers/record.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::string short_path(const std::string& file) {
  if (!fs::path(file).is_absolute()) return file;
  auto near = fs::path(file).lexically_proximate(fs::current_path()).string();
  return near.starts_with("..") ? file : near;
}

/// On one line, and short enough for a comment.
std::string shortened(std::string text) {
  constexpr std::size_t most = 48;
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  if (count_characters(text) <= most) return text;
  auto end = most - 3;  // not within a character
  while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  return text;
}

}  // namespace

std::string origin_of(const Place& place, const std::vector<std::string>& overrides) {
  if (!place.known()) return "default";
  if (place.file != "command line")
    return fmt::format("{}:{}", one_line(short_path(place.file)), place.line);
  const auto index = static_cast<std::size_t>(place.line - 1);
  return "override " + (index < overrides.size() ? shortened(overrides[index]) : "");
}

void note_origins(Node& tree, const std::vector<std::string>& overrides) {
  if (tree.items.empty() && tree.members.empty()) tree.note = origin_of(tree.place, overrides);
  for (auto& item : tree.items) note_origins(item, overrides);
  for (auto& member : tree.members) note_origins(member.value, overrides);
}

Node completed(const Loaded& loaded, const Catalogs& catalogs) {
  const auto shape = shape_of<Recipe>();
  auto tree = complete(loaded.tree, shape, catalogs);
  make_paths_absolute(tree, shape, catalogs);  // those of defaults
  hide_secrets(tree);
  return tree;
}

}  // namespace ddptrain
