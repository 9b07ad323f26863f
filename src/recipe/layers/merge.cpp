#include "recipe/layers/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "config/complete.h"
#include "config/encode.h"
#include "config/shape.h"
#include "recipe/data_section.h"
#include "recipe/layers/address.h"
#include "recipe/layers/option.h"
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

constexpr std::size_t kLongestValue = 40;

/// An option of a type of component; null where it has none, or the type is not known.
const Shape* option_of(const CatalogBase* kind, const std::string& type, const std::string& key) {
  const auto* entry = kind ? kind->find(type) : nullptr;
  if (!entry) return nullptr;
  const auto& options = entry->shape().children;
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const Shape& option) { return option.key == key; });
  return found == options.end() ? nullptr : &*found;
}

const CatalogBase* kind_at(const std::string& component, const Node& tree,
                           const Catalogs& catalogs) {
  const auto address = read_address(component);
  const auto* shape = address ? find_option(*address, tree, catalogs) : nullptr;
  const auto catalog = shape ? catalogs.find(shape->component) : catalogs.end();
  return catalog == catalogs.end() ? nullptr : catalog->second;
}

bool is_default(const Node& value, const Shape& option, const Catalogs& catalogs) {
  return to_yaml(complete(value, option, catalogs)) ==
         to_yaml(complete(option.initial, option, catalogs));
}

/// Whether the component is still there and no later layer sets the option.
bool is_lost(const Dropped& dropped, const Node& tree) {
  const auto address = read_address(dropped.component);
  const auto* component = address ? find_at(tree, *address) : nullptr;
  return component && !component->is_null() && !component->find(dropped.key);
}

std::string message(const Dropped& dropped, bool is_option_now) {
  const auto path = dropped.component + "." + dropped.key;
  const auto text = to_flow(dropped.value);
  const auto what = text.size() > kLongestValue ? "this value" : fmt::format("'{}'", text);
  const auto why = fmt::format("{} is dropped: {} changes {} from '{}' to '{}'", what,
                               to_text(dropped.by), dropped.component, dropped.before, dropped.now);
  const bool by_word = dropped.by.file == "command line";
  const std::string removal = fmt::format("'~{}' says that it is not wanted", path);
  if (!is_option_now)
    return fmt::format("{}, which has no '{}'{}", why, dropped.key, by_word ? "; " + removal : "");
  return why + (by_word ? fmt::format("; set {} there too, or {}", path, removal)
                        : fmt::format("; set {} next to that type", dropped.key));
}

}  // namespace

bool names_component(const std::string& path) {
  constexpr std::array<std::string_view, 13> paths{"momentum_schedule",
                                                   "weight_decay_schedule",
                                                   "model",
                                                   "model.body",
                                                   "data",
                                                   "data.sampler",
                                                   "data.mix",
                                                   "data.tokenizer",
                                                   "loss",
                                                   "optimizer",
                                                   "optimizer.inner",
                                                   "schedule",
                                                   "train.clip"};
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

Problems warn_of_dropped(const std::vector<Dropped>& dropped, const Node& tree,
                         const Catalogs& catalogs) {
  Problems problems;
  for (const auto& one : dropped) {
    if (!is_lost(one, tree)) continue;
    const auto* kind = kind_at(one.component, tree, catalogs);
    if (kind && !kind->find(one.now)) continue;  // which is reported as such
    const auto* before = option_of(kind, one.before, one.key);
    const auto* now = option_of(kind, one.now, one.key);
    const bool no_loss = before && is_default(one.value, *before, catalogs) &&
                         (!now || is_default(one.value, *now, catalogs));
    if (no_loss) continue;
    problems.push_back({Severity::warning, "dropped-option", one.value.place,
                        one.component + "." + one.key, message(one, now != nullptr)});
  }
  return problems;
}

}  // namespace ddptrain
