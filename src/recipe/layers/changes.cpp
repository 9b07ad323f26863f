#include "recipe/layers/changes.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "config/encode.h"

namespace ddptrain {
namespace {

using Meaning = std::pair<std::string_view, std::string_view>;

// The longest prefix decides.
constexpr std::array<Meaning, 25> kMeanings{{
    {"model", "the saved weights must fit it"},
    {"data", "the saved classes and steps per epoch must fit it"},
    {"data.transforms", "samples are transformed so from here on"},
    {"data.sampler", "the epoch under way may see samples twice and others never"},
    {"data.loader", "the epoch under way may see samples twice and others never"},
    {"data.loader.workers", "no number changes"},
    {"data.loader.prefetch", "no number changes"},
    {"seed", "the epoch under way may see samples twice and others never"},
    {"batch", "the same samples in each step; the last bits may differ"},
    {"batch.global", "the saved steps per epoch must fit it"},
    {"train", "from here on"},
    {"train.duration", "the schedule is recomputed, and continues at the current step"},
    {"train.stages", "stages are recomputed, and the run continues in that of the current step"},
    {"train.fine_tune", "stages are recomputed, and the run continues in that of the current step"},
    {"train.threads", "the last bits may differ"},
    {"loss", "from here on"},
    {"metrics", "evaluations from here on have other columns"},
    {"optimizer", "from here on; the saved state must fit it"},
    {"schedule", "it is recomputed, and continues at the current step"},
    {"momentum_schedule", "it is recomputed, and continues at the current step"},
    {"weight_decay_schedule", "it is recomputed, and continues at the current step"},
    {"parallel", "the same samples in each step; the last bits may differ"},
    {"parallel.timeout", "no number changes"},
    {"parallel.restarts", "no number changes"},
    {"callbacks", "new ones start from the beginning"},
}};

bool is_below(std::string_view path, std::string_view section) {
  if (!path.starts_with(section)) return false;
  return path.size() == section.size() || path[section.size()] == '.' ||
         path[section.size()] == '[';
}

std::string meaning_of(std::string_view path) {
  Meaning best{"", "training does not read it"};
  for (const auto& meaning : kMeanings)
    if (is_below(path, meaning.first) && meaning.first.size() > best.first.size()) best = meaning;
  return std::string(best.second);
}

// A component by its type; another value on one line, as far as it goes.
std::string shown(const Node& value) {
  if (const auto* type = value.find("type")) return type->text;
  const auto text = to_yaml(Node::list({value}));
  return text.substr(2, text.find('\n') - 2);
}

bool equal(const Node& a, const Node& b) { return to_yaml(a) == to_yaml(b); }

class Comparison {
 public:
  std::vector<Change> found;

  void compare(const Node& before, const Node& after, const std::string& path) {
    if (equal(before, after)) return;
    if (before.is_map() && after.is_map() && same_type(before, after))
      members(before, after, path);
    else if (before.is_list() && after.is_list() && before.items.size() == after.items.size())
      for (std::size_t i = 0; i < before.items.size(); ++i)
        compare(before.items[i], after.items[i], fmt::format("{}[{}]", path, i));
    else
      add(path, shown(before), shown(after));
  }

 private:
  // Another component has other options: it is one change.
  static bool same_type(const Node& before, const Node& after) {
    const auto *a = before.find("type"), *b = after.find("type");
    return !a || !b || a->text == b->text;
  }

  void members(const Node& before, const Node& after, const std::string& path) {
    const auto below = [&](const std::string& key) {
      return path.empty() ? key : path + "." + key;
    };
    for (const auto& [key, place, value] : after.members) {
      const auto* old = before.find(key);
      if (old)
        compare(*old, value, below(key));
      else
        add(below(key), "", shown(value));
    }
    for (const auto& [key, place, value] : before.members)
      if (!after.find(key)) add(below(key), shown(value), "");
  }

  void add(const std::string& path, std::string before, std::string after) {
    found.push_back({path, std::move(before), std::move(after), meaning_of(path)});
  }
};

}  // namespace

std::vector<Change> changes(const Node& before, const Node& after) {
  Comparison comparison;
  comparison.compare(before, after, "");
  return std::move(comparison.found);
}

std::string to_text(const Change& change) {
  const auto side = [](const std::string& value) { return value.empty() ? "nothing" : value; };
  return fmt::format("{}: {} -> {} ({})", change.path, side(change.before), side(change.after),
                     change.meaning);
}

}  // namespace ddptrain
