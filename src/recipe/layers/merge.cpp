#include "recipe/layers/merge.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "config/shape.h"
#include "recipe/data_section.h"
#include "recipe/model_section.h"

namespace ddptrain {
namespace {

template <class Section>
std::vector<std::string> keys_of() {
  std::vector<std::string> keys;
  for (const auto& option : shape_of<Section>().children) keys.push_back(option.key);
  return keys;
}

Node as_map(const Node& word) { return Node::map({{"type", word.place, word}}, word.place); }

bool changes_type(const Node& weak, const Node& strong) {
  const auto* before = weak.find("type");
  const auto* now = strong.find("type");
  return now && before && before->text != now->text;
}

bool is_command_line(const Place& place) { return place.file == "command line"; }

/// Takes away what files wrote; false where nothing is left.
bool keep_command_line(Node& value) {
  if (!value.is_map()) return is_command_line(value.place);
  std::erase_if(value.members, [](Member& member) { return !keep_command_line(member.value); });
  return !value.members.empty();
}

/// Takes the options away that belong to the type of `weak` alone.
void drop_options(Node& weak, const Node& strong, const std::string& path,
                  std::vector<Dropped>& dropped) {
  const auto& now = *strong.find("type");
  const auto before = weak.find("type")->text;
  std::erase_if(weak.members, [&](Member& member) {
    if (member.key == "type" || is_of_section(path, member.key)) return false;
    const Node written = member.value;
    const bool same_layer = is_command_line(now.place) && keep_command_line(member.value);
    if (!same_layer && !strong.find(member.key))
      dropped.push_back({path, member.key, written, before, now.text, now.place});
    return !same_layer;
  });
}

void merge_members(Node& weak, const Node& strong, const std::string& path,
                   std::vector<Dropped>& dropped) {
  std::unordered_map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < weak.members.size(); ++i) known.emplace(weak.members[i].key, i);
  for (const auto& member : strong.members) {
    const auto before = known.find(member.key);
    if (before == known.end()) {
      weak.members.push_back(member);
      continue;
    }
    auto& merged = weak.members[before->second];
    merge(merged.value, member.value, path.empty() ? member.key : path + "." + member.key, dropped);
    merged.place = member.place;
  }
}

}  // namespace

bool names_component(const std::string& path) {
  constexpr std::array<std::string_view, 11> paths{"model",        "model.body", "data",
                                                   "data.sampler", "data.mix",   "data.tokenizer",
                                                   "loss",         "optimizer",  "optimizer.inner",
                                                   "schedule",     "train.clip"};
  return std::find(paths.begin(), paths.end(), path) != paths.end();
}

bool is_of_section(const std::string& path, const std::string& key) {
  static const auto model = keys_of<ModelSection>();
  static const auto data = keys_of<DataSection>();
  if (path != "model" && path != "data") return false;
  const auto& keys = path == "model" ? model : data;
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

void merge(Node& weak, const Node& strong, const std::string& path, std::vector<Dropped>& dropped) {
  if (names_component(path)) {
    if (weak.is_map() && strong.is_scalar()) return merge(weak, as_map(strong), path, dropped);
    if (weak.is_scalar() && strong.is_map()) weak = as_map(weak);
  }
  if (!weak.is_map() || !strong.is_map()) {
    weak = strong;
    return;
  }
  if (changes_type(weak, strong)) drop_options(weak, strong, path, dropped);
  weak.place = strong.place;
  merge_members(weak, strong, path, dropped);
}

void merge(Node& weak, const Node& strong) {
  std::vector<Dropped> ignored;
  merge(weak, strong, "", ignored);
}

}  // namespace ddptrain
