#include "recipe/layers/address.h"

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::size_t most_characters = 1000;  // as maps inside of maps, which recursion walks

/// Reads "[...]" groups after a key; false when brackets do not match.
bool read_items(std::string_view text, std::vector<Step>& address) {
  while (!text.empty()) {
    const auto close = text.find(']');
    if (text[0] != '[' || close == std::string_view::npos || close == 1) return false;
    address.push_back({std::string(text.substr(1, close - 1)), true});
    text.remove_prefix(close + 1);
  }
  return true;
}

}  // namespace

std::optional<std::vector<Step>> read_address(std::string_view text) {
  std::vector<Step> address;
  if (text.size() > most_characters) return {};
  for (const auto& part : split(text, '.')) {
    const auto bracket = part.find('[');
    const auto key = part.substr(0, bracket);
    if (key.empty() || key.find_first_of(" \t") != std::string::npos) return {};
    address.push_back({key, false});
    if (bracket != std::string::npos && !read_items(part.substr(bracket), address)) return {};
  }
  return address;
}

std::string to_text(const std::vector<Step>& address) {
  std::string text;
  for (const auto& step : address)
    text += step.in_list ? "[" + step.name + "]" : (text.empty() ? "" : ".") + step.name;
  return text;
}

const Node* find_item(const Node& list, const std::string& name) {
  if (const auto index = parse_integer(name)) {
    const auto at = static_cast<std::size_t>(*index);
    return *index >= 0 && at < list.items.size() ? &list.items[at] : nullptr;
  }
  for (const auto& item : list.items) {
    const auto* type = item.is_scalar() ? &item : item.find("type");
    if (type && type->text == name) return &item;
  }
  return nullptr;
}

const Node* find_at(const Node& tree, const std::vector<Step>& address) {
  const Node* at = &tree;
  for (const auto& step : address) {
    at = step.in_list ? find_item(*at, step.name) : at->find(step.name);
    if (!at) return nullptr;
  }
  return at;
}

Place place_of(const Node& tree, const std::string& path) {
  const auto address = read_address(path);
  const Node* found = address ? find_at(tree, *address) : nullptr;
  return found ? found->place : Place{};
}

void with_places(const Node& tree, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.place().known() || error.option().empty()) throw;
    throw error.at(place_of(tree, error.option()));
  }
}

}  // namespace ddptrain
