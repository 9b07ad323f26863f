#include "recipe/load/load.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"
#include "config/decode.h"
#include "config/rename.h"
#include "config/scalar.h"
#include "config/shape.h"
#include "recipe/layers/address.h"
#include "recipe/layers/dropped.h"
#include "recipe/layers/paths.h"
#include "recipe/layers/record.h"
#include "recipe/load/settle.h"
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

/// A value whose reference could not be replaced is reported once.
void add_new(Problems& problems, const Problems& more) {
  const auto key = [](const Place& place) {
    return std::tie(place.file, place.line, place.column);
  };
  std::set<std::tuple<std::string, int, int>> said;
  for (const auto& problem : problems)
    if (problem.place.known()) said.insert(key(problem.place));
  for (const auto& problem : more)
    if (!said.contains(key(problem.place))) problems.push_back(problem);
}

/// Nobody reads more; whoever made them meant to keep us busy.
void end_after_enough(Problems& problems) {
  constexpr std::size_t enough = 200;
  if (problems.size() <= enough + 1) return;  // check() ends by itself
  problems.resize(enough);
  problems.push_back({Severity::error, "too-many-problems", problems.back().place, "",
                      std::to_string(enough) + " problems so far; the rest is not told"});
}

/// What is wrong in the files that could be read, where others could not: those may set what is
/// missing here, and what references name.
Problems check_the_rest(const Node& tree, const Shape& shape, const Catalogs& catalogs) {
  auto problems = check(tree, shape, catalogs);
  std::erase_if(problems, [](const Problem& p) {
    return p.rule == "missing-key" || p.rule == "option-conflict" ||
           p.message.find("${") != std::string::npos;
  });
  return problems;
}

void rename_former_keys(Loaded& loaded, const Shape& shape, const Catalogs& catalogs) {
  for (const auto& renamed : rename_keys(loaded.tree, shape, catalogs, loaded.problems))
    loaded.problems.push_back(renamed_warning(renamed));
}

/// A format above ours is no slip of the pen but that of a newer program.
void refuse_newer_format(const Node& tree, const Shape& shape, Problems& problems) {
  const auto ours = std::find_if(shape.children.begin(), shape.children.end(),
                                 [](const Shape& option) { return option.key == "recipe"; });
  const auto* written = tree.find("recipe");
  std::string why;
  const auto format = written ? read_integer(*written, why) : std::nullopt;
  if (!format || static_cast<double>(*format) <= ours->max) return;
  problems.push_back({Severity::error, "newer-format", written->place, "recipe",
                      "format " + std::to_string(*format) +
                          " needs a newer ddptrain; this one reads up to format " +
                          format_number(ours->max)});
}

void check_layered(Loaded& loaded, bool whole, const Catalogs& catalogs) {
  const auto shape = shape_of<Recipe>();
  if (!whole) return add_new(loaded.problems, check_the_rest(loaded.tree, shape, catalogs));
  refuse_newer_format(loaded.tree, shape, loaded.problems);
  rename_former_keys(loaded, shape, catalogs);
  add_new(loaded.problems, check(loaded.tree, shape, catalogs));
  if (has_errors(loaded.problems)) return;
  make_paths_absolute(loaded.tree, shape, catalogs);
  loaded.recipe = decode<Recipe>(loaded.tree);
  settle(loaded.recipe, loaded.tree, catalogs);
  add_new(loaded.problems, check_rules(loaded.recipe, loaded.tree, catalogs));
}

}  // namespace

Loaded load_recipe(const std::vector<std::string>& files, const std::vector<std::string>& overrides,
                   const Catalogs& catalogs) {
  auto layered = read_layers(files, overrides);
  Loaded loaded;
  loaded.tree = std::move(layered.tree);
  loaded.problems = std::move(layered.problems);
  loaded.sources = std::move(layered.sources);
  if (layered.whole)
    add_new(loaded.problems, warn_of_dropped(layered.dropped, loaded.tree, catalogs));
  const auto layered_tree = loaded.tree;  // paths as written: messages quote both
  check_layered(loaded, layered.whole, catalogs);
  hide_secrets(loaded.problems, layered_tree);
  hide_secrets(loaded.problems, loaded.tree);
  end_after_enough(loaded.problems);
  add_chains(loaded.problems, loaded.sources);
  return loaded;
}

}  // namespace ddptrain
