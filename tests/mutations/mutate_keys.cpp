// Keys that are misspelled, moved, given twice or left out.
#include <algorithm>

#include "mutations/mutations.h"

namespace ddptrain::test {
namespace {

bool is_line(const Spot& spot) { return !spot.flow && spot.value && spot.value->is_scalar(); }

/// What a message may call the key that was meant.
std::vector<std::string> names_of(const Spot& spot) { return {spot.key, spot.path}; }

std::string misspelled(const std::string& key, int edit, Surgery& surgery) {
  const auto letter = static_cast<char>('a' + surgery.draw(26));
  auto wrong = key;
  const auto at = surgery.draw(key.size());
  if (edit == 0) wrong.insert(surgery.draw(key.size() + 1), 1, letter);
  if (edit == 1) wrong.erase(at, 1);
  if (edit == 2) wrong[at] = letter;
  if (edit == 3 && at + 1 < key.size()) std::swap(wrong[at], wrong[at + 1]);
  return wrong;
}

void misspell(Surgery& surgery) {
  static const std::string edits[] = {"insert", "delete", "substitute", "transpose"};
  for (const auto& spot : surgery.spots()) {
    for (int edit = 0; edit < 4; ++edit) {
      const auto wrong = misspelled(spot.key, edit, surgery);
      // A front '-' or '_' is no key that a user types; a legal key is no mistake.
      if (wrong.empty() || wrong == spot.key || spot.legal.contains(wrong) || wrong[0] == '-')
        continue;
      if (spot.path == spot.key && wrong.starts_with("x-")) continue;
      surgery.replace("misspelled key: " + edits[edit], spot.at, spot.key.size(), wrong, spot.at,
                      names_of(spot));
    }
  }
}

/// A key of a section stands at the top level, or in another section.
void move(Surgery& surgery) {
  const auto& text = surgery.text();
  for (const auto& spot : surgery.spots()) {
    const bool nested = spot.path.find('.') != std::string::npos;
    const bool plain = nested && spot.value->is_scalar() && spot.key != "type" &&
                       spot.path.find("[]") == std::string::npos;
    if (!plain) continue;
    auto value = text.substr(spot.value_at, spot.value_size);
    if (value[0] == '$') value = '"' + value + '"';
    const auto entry = spot.key + ": " + value;
    const auto& top = surgery.root().children;
    const auto is_it = [&](const Shape& child) { return child.key == spot.key; };
    if (std::none_of(top.begin(), top.end(), is_it))
      surgery.insert("moved key: top level", text.size(), entry + "\n", text.size(), {spot.path});
    for (const auto& other : surgery.spots()) {
      const bool section = other.path.find_first_of(".[") == std::string::npos && other.shape &&
                           other.shape->kind == Shape::Kind::record && other.value->is_map() &&
                           text[other.value_at] == '{';
      if (!section || spot.path.starts_with(other.path + ".")) continue;
      const auto& keys = other.shape->children;
      if (std::any_of(keys.begin(), keys.end(), is_it)) continue;
      surgery.insert("moved key: other section", other.value_at + 1, entry + ", ",
                     other.value_at + 1, {spot.path});
      break;
    }
  }
}

void duplicate(Surgery& surgery) {
  const auto& text = surgery.text();
  for (const auto& spot : surgery.spots()) {
    if (!spot.value->is_scalar()) continue;
    const auto entry = spot.key + ": " + text.substr(spot.value_at, spot.value_size);
    if (spot.flow) {
      surgery.insert("duplicated key", spot.map_at + 1, entry + ", ", spot.at + entry.size() + 2);
    } else {
      const auto margin = std::string(spot.at - surgery.line_start(spot.at), ' ');
      const auto next = surgery.line_end(spot.at) + 1;
      surgery.insert("duplicated key", next, margin + entry + "\n", next + margin.size());
    }
  }
}

/// Required keys of recipes that extend nothing; the map that lacks one is where it belongs.
void leave_out(Surgery& surgery) {
  const auto& text = surgery.text();
  for (const auto& spot : surgery.spots()) {
    const bool required = spot.key == "type" || (spot.shape && spot.shape->required);
    if (!required || !spot.standalone || !spot.value->is_scalar()) continue;
    if (spot.flow) {
      auto end = spot.value_at + spot.value_size;
      while (text[end] == ',' || text[end] == ' ') ++end;
      surgery.replace("removed key", spot.at, end - spot.at, "", spot.map_at);
    } else if (is_line(spot) && text[surgery.line_start(spot.at)] == ' ') {
      const auto start = surgery.line_start(spot.at);
      surgery.replace("removed key", start, surgery.line_end(start) + 1 - start, "", spot.map_at);
    }
  }
}

}  // namespace

void mutate_keys(Surgery& surgery) {
  misspell(surgery);
  move(surgery);
  duplicate(surgery);
  leave_out(surgery);
}

}  // namespace ddptrain::test
