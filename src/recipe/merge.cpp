#include "recipe/merge.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

namespace ddptrain {
namespace {

/// Where a bare word names a component, so that later layers may add options to it.
bool names_component(std::string_view path) {
  constexpr std::array<std::string_view, 8> paths{
      "model", "data", "data.sampler", "data.mix", "loss", "optimizer", "schedule", "train.clip"};
  return std::find(paths.begin(), paths.end(), path) != paths.end();
}

bool changes_type(const Node& weak, const Node& strong) {
  const auto* before = weak.find("type");
  const auto* now = strong.find("type");
  return now && before && before->text != now->text;
}

}  // namespace

void merge(Node& weak, const Node& strong, const std::string& path) {
  const bool word = weak.is_scalar() && strong.is_map() && names_component(path);
  if (word) weak = Node::map({{"type", weak.place, weak}}, weak.place);
  if (!weak.is_map() || !strong.is_map() || changes_type(weak, strong)) {
    weak = strong;
    return;
  }
  weak.place = strong.place;
  std::unordered_map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < weak.members.size(); ++i) known.emplace(weak.members[i].key, i);
  for (const auto& member : strong.members) {
    const auto before = known.find(member.key);
    if (before == known.end()) {
      weak.members.push_back(member);
      continue;
    }
    auto& merged = weak.members[before->second];
    merge(merged.value, member.value, path.empty() ? member.key : path + "." + member.key);
    merged.place = member.place;
  }
}

}  // namespace ddptrain
