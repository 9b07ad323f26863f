#include "recipe/layers/dropped.h"

#include <algorithm>

#include "base/text.h"
#include "config/complete.h"
#include "config/encode.h"
#include "config/shape.h"
#include "recipe/layers/address.h"
#include "recipe/layers/option.h"

namespace ddptrain {
namespace {

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

/// Whether the component is still there and nobody gave it the option again.
bool is_lost(const Dropped& dropped, const Node& tree) {
  const auto address = read_address(dropped.component);
  const auto* component = address ? find_at(tree, *address) : nullptr;
  return component && !component->is_null() && !component->find(dropped.key);
}

std::string message(const Dropped& dropped, bool is_option_now) {
  const auto path = dropped.component + "." + dropped.key;
  const auto text = to_flow(dropped.value);
  const auto what = text.size() > kLongestValue ? "this value" : "'" + text + "'";
  const auto why = what + " is dropped: " + to_text(dropped.by) + " changes " + dropped.component +
                   " from '" + dropped.before + "' to '" + dropped.now + "'";
  const bool by_word = dropped.by.file == "command line";
  const std::string removal = "'~" + path + "' says that it is not wanted";
  if (!is_option_now)
    return why + ", which has no '" + dropped.key + "'" + (by_word ? "; " + removal : "");
  return why + (by_word ? "; set " + path + " there too, or " + removal
                        : "; set " + dropped.key + " beside that type");
}

}  // namespace

Problems warn_of_dropped(const std::vector<Dropped>& dropped, const Node& tree,
                         const Catalogs& catalogs) {
  Problems problems;
  for (const auto& one : dropped) {
    if (!is_lost(one, tree)) continue;
    const auto* kind = kind_at(one.component, tree, catalogs);
    if (kind && !kind->find(one.now)) continue;  // which is said as such
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
