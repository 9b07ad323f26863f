#include "recipe/rules/rules.h"

namespace ddptrain {

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> rules;
    for (const auto topic :
         {batch_rules, parallel_rules, length_rules, schedule_rules, stage_rules, optimizer_rules,
          average_rules, metric_rules, metric_range_rules, callback_rules, data_rules, kind_rules,
          mix_rules, transform_rules, progressive_rules, model_rules, run_rules})
      for (const auto& rule : topic()) rules.push_back(rule);
    return rules;
  }();
  return all;
}

Problems check_rules(const Recipe& recipe, const Node& tree, const Catalogs& catalogs) {
  Problems problems;
  RuleContext context(recipe, tree, catalogs, problems);
  for (const auto& rule : all_rules()) {
    context.report_as(rule.id);
    rule.check(context);
  }
  return problems;
}

}  // namespace ddptrain
