#include "recipe/load/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "base/text.h"
#include "base/url.h"
#include "config/decode.h"
#include "config/rename.h"
#include "config/scalar.h"
#include "recipe/layers/literal_secrets.h"
#include "recipe/layers/merge.h"
#include "recipe/layers/record.h"
#include "recipe/layers/splits.h"
#include "recipe/load/plugins.h"
#include "recipe/rules/metric_names.h"
#include "recipe/rules/rule_context.h"
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

using PlaceKey = std::tuple<std::string, int, int>;

PlaceKey key(const Place& place) { return {place.file, place.line, place.column}; }

/// A value whose reference could not be replaced is reported once.
void add_new(Problems& problems, const Problems& more) {
  std::set<PlaceKey> reported;
  for (const auto& problem : problems)
    if (problem.place.known()) reported.insert(key(problem.place));
  for (const auto& problem : more)
    if (!reported.contains(key(problem.place))) problems.push_back(problem);
}

/// A name that no component has may be one of the plug-in that could not be added.
void leave_to_plugins(Problems& problems) {
  const auto is_of_plugin = [](const Problem& problem) { return problem.rule == "plugin"; };
  if (!std::ranges::any_of(problems, is_of_plugin)) return;
  std::erase_if(problems, [](const Problem& p) { return p.rule == "unknown-component"; });
}

/// What is wrong in `data` is reported there, and not of each split that takes it over.
Problems reported_once(Problems problems) {
  std::set<PlaceKey> of_data;
  for (const auto& problem : problems)
    if (problem.path.starts_with("data")) of_data.insert(key(problem.place));
  if (of_data.empty()) return problems;
  std::erase_if(problems, [&](const Problem& problem) {
    const bool of_split =
        problem.path.starts_with("eval.splits.") || problem.path.starts_with("eval.test");
    return of_split && (problem.rule == "missing-key" || of_data.contains(key(problem.place)));
  });
  return problems;
}

void end_after_enough(Problems& problems) {
  if (problems.size() <= kMostProblems + 1) return;  // check() ends by itself
  problems.resize(kMostProblems);
  problems.push_back({Severity::error, "too-many-problems", problems.back().place, "",
                      fmt::format("{} problems so far; the rest is not shown", kMostProblems)});
}

/// What is wrong in the files that could be read, where others could not: those may set what is
/// missing here, and what references name.
Problems check_the_rest(const Node& tree, const Shape& shape, const Catalogs& catalogs) {
  auto problems = reported_once(check(tree, shape, catalogs));
  std::erase_if(problems, [](const Problem& p) {
    return p.rule == "missing-key" || p.rule == "option-conflict" ||
           p.message.find("${") != std::string::npos;
  });
  return problems;
}

void rename_former_keys(Loaded& loaded, const Shape& shape, const Catalogs& catalogs) {
  for (const auto& renamed : rename_keys(loaded.tree, shape, catalogs, loaded.problems))
    add_new(loaded.problems, {renamed_warning(renamed)});
}

/// A format above ours is no slip of the pen but that of a newer program.
void refuse_newer_format(const Node& tree, const Shape& shape, Problems& problems) {
  const auto ours = std::find_if(shape.children.begin(), shape.children.end(),
                                 [](const Shape& option) { return option.key == "recipe"; });
  const auto* written = tree.find("recipe");
  std::string why;
  const auto format = written ? read_integer(*written, why) : std::nullopt;
  if (!format || static_cast<double>(*format) <= ours->max) return;
  problems.push_back(
      {Severity::error, "newer-format", written->place, "recipe",
       fmt::format("format {} needs a newer ddptrain; this one reads up to format {}", *format,
                   format_number(ours->max))});
}

void check_layered(Loaded& loaded, bool whole, const Catalogs& catalogs) {
  const auto shape = shape_of<Recipe>();
  complete_splits(loaded.tree);
  if (!whole) return add_new(loaded.problems, check_the_rest(loaded.tree, shape, catalogs));
  refuse_newer_format(loaded.tree, shape, loaded.problems);
  rename_former_keys(loaded, shape, catalogs);
  add_new(loaded.problems, reported_once(check(loaded.tree, shape, catalogs)));
  if (has_errors(loaded.problems)) return;
  make_paths_absolute(loaded.tree, shape, catalogs);
  loaded.recipe = decode<Recipe>(loaded.tree);
  settle(loaded.recipe, loaded.tree, catalogs);
  add_new(loaded.problems, check_rules(loaded.recipe, loaded.tree, catalogs));
  add_new(loaded.problems, literal_secrets(loaded.tree));
}

/// `mode: auto` of a callback that has such an option.
void settle_mode(Choice<Callback>& callback, const RuleContext& rule) {
  const auto* mode = rule.value(callback, "mode");
  if (text_of(mode) != "auto") return;
  const auto better = better_way(rule, text_of(rule.value(callback, "metric")));
  if (!better) return;
  auto node = callback.node();
  node.set("mode", Node::scalar(*better == BestMode::min ? "min" : "max"));
  callback.choose(std::move(node));
}

void anchor(Node& node) {
  if (!node.is_scalar() || node.text.empty() || fs::path(node.text).is_absolute()) return;
  if (!url_scheme(node.text).empty()) return;  // used or refused as it was written
  const auto base = node.place.file == "command line" ? fs::path() : fs::path(node.place.file);
  node.text = fs::absolute(base.parent_path() / node.text).lexically_normal().string();
  node.quoted = true;
}

void fields(Node& node, const Shape& shape, const Catalogs& catalogs) {
  for (const auto& child : shape.children)
    if (Node* value = node.find(child.key)) make_paths_absolute(*value, child, catalogs);
}

void component(Node& node, const std::string& kind, const Catalogs& catalogs) {
  const auto catalog = catalogs.find(kind);
  const Node* type = node.find("type");
  if (catalog == catalogs.end() || !type) return;
  if (const auto* entry = catalog->second->find(type->text)) fields(node, entry->shape(), catalogs);
}

}  // namespace

Loaded load_recipe(const std::vector<std::string>& files, const std::vector<std::string>& overrides,
                   const Catalogs& catalogs) {
  auto layered = read_layers(files, overrides);
  Loaded loaded;
  loaded.tree = std::move(layered.tree);
  loaded.problems = std::move(layered.problems);
  loaded.sources = std::move(layered.sources);
  add_plugins(loaded.tree, catalogs, loaded.problems);
  if (layered.whole)
    add_new(loaded.problems, warn_of_dropped(layered.dropped, loaded.tree, catalogs));
  const auto layered_tree = loaded.tree;  // paths as written: messages quote both
  check_layered(loaded, layered.whole, catalogs);
  leave_to_plugins(loaded.problems);
  hide_secrets(loaded.problems, layered_tree);
  hide_secrets(loaded.problems, loaded.tree);
  end_after_enough(loaded.problems);
  add_sources(loaded.problems, loaded.sources);
  return loaded;
}

void settle_scores(Recipe& recipe, TargetKind targets) {
  if (recipe.loss.automatic()) recipe.loss = usual_loss(targets);
  if (recipe.metrics.automatic()) recipe.metrics = usual_metrics(targets);
}

/// Streams are drawn in their own order, in which the documents are shuffled.
void settle_sampler(Recipe& recipe, const Catalogs& catalogs) {
  auto node = recipe.data.node();
  const auto* written = node.find("sampler");
  const auto* type = written && written->is_map() ? written->find("type") : written;
  if ((type && type->text != "shuffle") || !gives_streams(recipe, catalogs)) return;
  node.set("sampler", Node::scalar("sequential"));
  recipe.data.choose(std::move(node));
}

void settle(Recipe& recipe, const Node& tree, const Catalogs& catalogs) {
  if (const auto targets = written_target(recipe, catalogs)) settle_scores(recipe, *targets);
  settle_sampler(recipe, catalogs);
  Problems ignored;
  const Recipe before = recipe;
  const RuleContext rule(before, tree, catalogs, ignored);
  auto& best = recipe.checkpoint.keep_best;
  if (best && best->mode.automatic()) best->mode.value = better_way(rule, best->metric);
  for (auto& callback : recipe.callbacks) settle_mode(callback, rule);
  auto& sweep = recipe.sweep;
  if (sweep && sweep->metric.value && sweep->mode.automatic())
    sweep->mode.value = better_way(rule, *sweep->metric.value);
}

void make_paths_absolute(Node& tree, const Shape& shape, const Catalogs& catalogs) {
  switch (shape.kind) {
    case Shape::Kind::record:
      if (tree.is_map()) return fields(tree, shape, catalogs);
      for (const auto& child : shape.children)
        if (child.key == shape.shorthand) make_paths_absolute(tree, child, catalogs);
      return;
    case Shape::Kind::component:
      return component(tree, shape.component, catalogs);
    case Shape::Kind::list:
      for (auto& item : tree.items) make_paths_absolute(item, shape.children[0], catalogs);
      return;
    case Shape::Kind::table:
      for (auto& member : tree.members)
        make_paths_absolute(member.value, shape.children[0], catalogs);
      return;
    default:
      if (shape.path) anchor(tree);
  }
}

}  // namespace ddptrain
