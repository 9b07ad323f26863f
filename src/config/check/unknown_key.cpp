#include "config/check/unknown_key.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "config/check/checker.h"
#include "config/check/hints.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostKeysListed = 16;
constexpr std::size_t kMostNames = 3;

// What speaks against a guess, in halves of an edit.
constexpr double kEdit = 2;
constexpr double kPartOfName = 2.5;
constexpr double kGivenAlready = 1.5;
constexpr double kDoesNotFit = 3;
constexpr double kOtherComponent = 2.5;
constexpr double kOtherSection = 3;
constexpr double kSame = 0.15;  // guesses that differ by no more are all named

/// "data.transforms.train[0]" -> "data.transforms.train[]".
std::string section_of(std::string_view path) {
  std::string section;
  bool index = false;
  for (const char c : path) {
    index = index && c != ']';
    if (!index) section += c;
    index = index || c == '[';
  }
  return section;
}

std::string first_step(const std::string& path) { return path.substr(0, path.find_first_of(".[")); }

/// "'adam'", or "'adam', 'adamw' and others".
std::string some_of(const std::vector<std::string>& names) {
  if (names.size() <= kMostNames) return one_of(names);
  return fmt::format("'{}', '{}' and others", names[0], names[1]);
}

/// The path of a home as a person writes it: "optimizer.lr", "k' of 'top_k' in 'metrics".
std::string place_text(const Home& home) {
  if (!home.in_list()) return home.path();
  const auto list = home.section.substr(0, home.section.find("[]"));
  const auto owner = home.owners.empty() ? "" : "' of '" + home.owners.front();
  return fmt::format("{}{}' in '{}", home.shape->key, owner, list);
}

std::string subject(const UnknownKey& key) {
  const auto written = fmt::format("'{}' is not ", key.member.key);
  if (!key.component.empty()) return fmt::format("{}an option of '{}'", written, key.component);
  if (key.path.empty()) return written + "a key of a recipe";
  return fmt::format("{}an option of '{}'", written, key.path.substr(key.path.rfind('.') + 1));
}

std::string listing(const Shape& shape) {
  if (shape.children.empty()) return ", which has none";
  if (shape.children.size() > kMostKeysListed) return {};
  std::vector<std::string> known;
  for (const auto& child : shape.children) known.push_back(child.key);
  return "; its options are " + join(known, ", ");
}

/// "kk" or "kj" for a key of one letter.
bool doubles_letter(const std::string& written, const std::string& key) {
  return key.size() == 1 && written.size() == 2 && written.find(key) != std::string::npos;
}

/// "init" of "init_scale": whole words of a name, of two letters at least.
bool is_part_of(const std::string& written, const std::string& key) {
  if (written.size() < 2 || written.size() >= key.size()) return false;
  return (fmt::format("_{}_", key)).find(fmt::format("_{}_", lower(written))) != std::string::npos;
}

/// Whether two places are in one section of a recipe; the top is around all.
bool in_one_section(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() || first_step(a) == first_step(b);
}

}  // namespace

const Homes& KeyAdvisor::homes() {
  if (!homes_) homes_.emplace(root_, catalogs_);
  return *homes_;
}

void KeyAdvisor::guess_here(const UnknownKey& key, std::vector<Guess>& guesses) const {
  for (const auto& child : key.shape.children) {
    const auto distance = name_distance(key.member.key, child.key);
    const bool spelled = is_near(child.key, distance) || doubles_letter(key.member.key, child.key);
    const bool part = is_part_of(key.member.key, child.key);
    if (!spelled && !part) continue;
    const double edits = kEdit * static_cast<double>(distance);
    double cost = part ? std::min(edits, kPartOfName) : edits;
    if (key.map.find(child.key)) cost += kGivenAlready;
    if (!fits(key.member.value, child, catalogs_)) cost += kDoesNotFit;
    guesses.push_back({cost, child.key, nullptr, true, part});
  }
  // What is no option but may stand here.
  const std::string special = key.path.empty() ? "extends" : "type";
  if (!key.path.empty() && key.component.empty()) return;
  const auto distance = name_distance(key.member.key, special);
  if (!is_near(special, distance)) return;
  const double given = key.map.find(special) ? kGivenAlready : 0;
  guesses.push_back({kEdit * static_cast<double>(distance) + given, special, nullptr, true});
}

/// Of several sections the one around, the shallow one, and what this recipe has.
double KeyAdvisor::closeness(const UnknownKey& key, const Home& home) const {
  const auto steps = std::count(home.section.begin(), home.section.end(), '.');
  double cost = 0.05 * static_cast<double>(steps) + (home.in_list() ? 0.3 : 0);
  if (!key.path.empty() && first_step(home.section) == first_step(key.path)) cost -= 0.2;
  const Node* at = &tree_;
  for (const auto& step : split(home.section, '.')) at = at ? at->find(step) : nullptr;
  if (!at) return cost + (home.optional ? 0.4 : 0);
  const Node* type = at->is_map() ? at->find("type") : at;
  const auto& owners = home.owners;
  const bool chosen = !type || owners.empty() ||
                      std::find(owners.begin(), owners.end(), type->text) != owners.end();
  return cost - (chosen ? 0.3 : 0);
}

double KeyAdvisor::cost_of(const UnknownKey& key, const Home& home, std::size_t distance) const {
  double cost = kEdit * static_cast<double>(distance);
  if (!fits(key.member.value, *home.shape, catalogs_)) cost += kDoesNotFit;
  if (home.section == section_of(key.path)) return cost + kOtherComponent;
  return cost + kOtherSection + closeness(key, home);
}

void KeyAdvisor::guess_elsewhere(const UnknownKey& key, std::vector<Guess>& guesses) {
  constexpr std::size_t shortest_with_edit = 4;
  const std::size_t most = key.member.key.size() < shortest_with_edit ? 0 : 1;
  const auto here = section_of(key.path);
  for (const auto& [distance, home] : homes().near(key.member.key, most)) {
    const bool same_section = home->section == here;
    if (same_section && home->kind != key.kind) continue;
    if (distance > 0 && !in_one_section(home->section, here)) continue;
    const auto& owners = home->owners;
    const bool own = std::find(owners.begin(), owners.end(), key.component) != owners.end();
    if (same_section && (own || key.component.empty())) continue;
    guesses.push_back({cost_of(key, *home, distance),
                       same_section ? home->shape->key : place_text(*home),
                       same_section ? home : nullptr});
  }
}

/// Next to a key here of which only a part was written, the one elsewhere that is called so.
void KeyAdvisor::add_whole_name(const std::vector<Guess>& guesses,
                                std::vector<std::string>& names) {
  const auto whole =
      std::find_if(guesses.begin(), guesses.end(), [](const Guess& guess) { return !guess.part; });
  if (whole != guesses.end() && whole->cost < kOtherSection + kEdit) names.push_back(whole->name);
}

KeyAdvice KeyAdvisor::advise(const UnknownKey& key) {
  const auto written =
      key.path.empty() ? key.member.key : section_of(key.path) + "." + key.member.key;
  std::vector<Guess> guesses;
  guess_here(key, guesses);
  // One edit from a key of this place is a slip of the hand, not another tool's word.
  const bool slip = std::any_of(guesses.begin(), guesses.end(),
                                [](const Guess& guess) { return guess.cost <= kEdit; });
  if (const auto ours = foreign_key_hint(written); !slip && !ours.empty())
    return {"foreign-key", subject(key) + "; here it is " + ours, true};
  guess_elsewhere(key, guesses);
  if (guesses.empty()) return {"unknown-key", subject(key) + listing(key.shape), false};
  std::stable_sort(guesses.begin(), guesses.end(),
                   [](const Guess& a, const Guess& b) { return a.cost < b.cost; });
  const auto& best = guesses.front();
  if (best.other) {
    const auto& key_there = best.other->shape->key;
    const auto owners = some_of(best.other->owners);
    if (key_there == key.member.key)
      return {"unknown-key",
              fmt::format("'{}' is an option of {}, not of '{}'", key_there, owners, key.component),
              true};
    return {"unknown-key", subject(key) + "; '" + key_there + "' is one of " + owners, true};
  }
  std::vector<std::string> names;
  for (const auto& guess : guesses)
    if (guess.cost - best.cost <= kSame && names.size() < kMostNames) names.push_back(guess.name);
  if (names.size() == 1 && best.part) add_whole_name(guesses, names);
  return {"unknown-key", subject(key) + did_you_mean(names), true, best.here ? best.name : ""};
}

}  // namespace ddptrain
