#include "recipe/sweep/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"
#include "config/complete.h"
#include "config/encode.h"
#include "recipe/layers/option.h"
#include "recipe/sweep/draws.h"

namespace ddptrain {
namespace {

using ProblemKey = std::tuple<std::string, std::string, int, int, std::string>;

ProblemKey key_of(const Problem& problem) {
  return {problem.rule, problem.place.file, problem.place.line, problem.place.column,
          problem.message};
}

const Shape* option_at(const std::string& key, const Node& completed, const Catalogs& catalogs) {
  const auto address = read_address(key);
  return address ? find_option(*address, completed, catalogs) : nullptr;
}

/// Paths among the values are relative to the file that wrote them.
std::vector<SweepAxis> axes_of(const Loaded& loaded, const Catalogs& catalogs) {
  const auto completed = complete(loaded.tree, recipe_shape(), catalogs);
  std::vector<SweepAxis> axes;
  for (const auto& [key, spec] : loaded.recipe.sweep->keys) {
    auto& axis = axes.emplace_back(SweepAxis{key, spec});
    const auto* option = option_at(key, completed, catalogs);
    if (!option) continue;
    axis.whole = meant_by_scalar(*option).kind == Shape::Kind::integer;
    for (auto& value : axis.spec.values) make_paths_absolute(value, *option, catalogs);
  }
  return axes;
}

bool is_of(const SweepTrial& trial, const Place& place, std::size_t words) {
  const auto added = words + trial.overrides.size();
  return place.file == "command line" && place.line > static_cast<int>(words) &&
         place.line <= static_cast<int>(added);
}

/// The value that the word of a trial at `place` came from.
Place place_of_word(const SweepTrial& trial, const Place& place, std::size_t words,
                    const Loaded& loaded) {
  const auto word = static_cast<std::size_t>(place.line) - words - 1;
  const auto* keys = loaded.tree.find("sweep")->find("keys");
  if (word == 0 || word > trial.values.size() || !keys) return loaded.tree.find("sweep")->place;
  const auto& [key, text] = trial.values[word - 1];
  const auto* values = keys->find(key);
  if (const auto* listed = values->is_map() ? values->find("values") : values; listed)
    for (const auto& value : listed->items)
      if (to_flow(value) == text) return value.place;
  return values->place;
}

}  // namespace

std::string to_text(const SweepTrial& trial) {
  std::vector<std::string> words;
  for (const auto& [key, value] : trial.values) words.push_back(key + "=" + value);
  return join(words, ", ");
}

std::vector<SweepTrial> trials_of(const Loaded& loaded, const Catalogs& catalogs) {
  const auto axes = axes_of(loaded, catalogs);
  const auto seed = static_cast<std::uint64_t>(loaded.recipe.seed);
  std::vector<SweepTrial> trials;
  for (const auto& setting : settings_of(*loaded.recipe.sweep, axes, seed)) {
    auto& trial = trials.emplace_back();
    trial.overrides.emplace_back("sweep=null");
    for (std::size_t i = 0; i < axes.size(); ++i) {
      trial.values.emplace_back(axes[i].key, to_flow(setting[i]));
      trial.overrides.push_back(axes[i].key + "=" + trial.values.back().second);
    }
  }
  return trials;
}

Problems check_trials(const std::vector<std::string>& files,
                      const std::vector<std::string>& overrides, const Loaded& loaded,
                      const Catalogs& catalogs) {
  std::set<ProblemKey> known;
  for (const auto& problem : loaded.problems) known.insert(key_of(problem));
  Problems found;
  const auto trials = trials_of(loaded, catalogs);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    auto words = overrides;
    words.insert(words.end(), trials[i].overrides.begin(), trials[i].overrides.end());
    for (auto& problem : load_recipe(files, words, catalogs).problems) {
      if (!known.insert(key_of(problem)).second) continue;
      if (is_of(trials[i], problem.place, overrides.size()))
        problem.place = place_of_word(trials[i], problem.place, overrides.size(), loaded);
      problem.message += fmt::format(" (trial {}: {})", i + 1, to_text(trials[i]));
      found.push_back(std::move(problem));
    }
  }
  return found;
}

}  // namespace ddptrain
