#include "recipe/rules/rules.h"

#include <algorithm>
#include <array>
#include <span>

#include "recipe/eval_splits.h"

namespace ddptrain {
namespace {

using Topic = std::vector<Rule> (*)();

/// What must hold of a `data` section, and of each that is only scored.
constexpr std::array<Topic, 5> kOfData{data_rules, kind_rules, transform_rules, weights_rules,
                                       model_rules};

Problems check(std::span<const Rule> rules, const Recipe& recipe, const Node& tree,
               const Catalogs& catalogs) {
  Problems problems;
  RuleContext context(recipe, tree, catalogs, problems);
  for (const auto& rule : rules) {
    context.report_as(rule.id);
    rule.check(context);
  }
  return problems;
}

bool begins_with(const std::string& path, const std::string& section) {
  return path == section || path.starts_with(section + ".") || path.starts_with(section + "[");
}

/// Of a problem with `data` what it is of a split: an option of its own, or the split as such.
Problem moved(Problem problem, const SplitSection& split, const Node& tree) {
  const bool own = begins_with(problem.path, "data");
  problem.path = split.path + (own ? problem.path.substr(std::string("data").size()) : "");
  problem.place = nearest_place(tree, problem.path);
  return problem;
}

/// What the rules find where a split stands for `data`, beyond what they `found`.
Problems check_split(const SplitSection& split, const Recipe& recipe, const Node& tree,
                     const Catalogs& catalogs, const Problems& found) {
  auto other = recipe;
  other.data = split.data;
  auto other_tree = tree;
  other_tree.set("data", split.data.node());
  Problems more;
  for (const auto topic : kOfData) {
    const auto rules = topic();
    for (const auto& problem : check(rules, other, other_tree, catalogs)) {
      const bool known = std::any_of(found.begin(), found.end(), [&](const Problem& each) {
        return each.rule == problem.rule && each.message == problem.message;
      });
      if (!known) more.push_back(moved(problem, split, tree));
    }
  }
  return more;
}

}  // namespace

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> rules;
    for (const auto topic :
         {batch_rules,     device_rules,      parallel_rules,     node_rules,     length_rules,
          schedule_rules,  stage_rules,       optimizer_rules,    offload_rules,  usual_rules,
          average_rules,   metric_rules,      metric_range_rules, callback_rules, data_rules,
          token_rules,     sample_rules,      split_rules,        kind_rules,     mix_rules,
          transform_rules, progressive_rules, weights_rules,      model_rules,    run_rules,
          path_rules,      sweep_rules})
      for (const auto& rule : topic()) rules.push_back(rule);
    return rules;
  }();
  return all;
}

Problems check_rules(const Recipe& recipe, const Node& tree, const Catalogs& catalogs) {
  auto problems = check(all_rules(), recipe, tree, catalogs);
  for (const auto& split : split_sections(recipe)) {
    const auto more = check_split(split, recipe, tree, catalogs, problems);
    problems.insert(problems.end(), more.begin(), more.end());
  }
  return problems;
}

}  // namespace ddptrain
