#include "recipe/rules/rule_docs.h"

#include <algorithm>

#include "recipe/rules/rules.h"

namespace ddptrain {

std::vector<const RuleDoc*> all_rule_docs() {
  std::vector<const RuleDoc*> all;
  for (const auto& rule : reading_rules()) all.push_back(&rule);
  for (const auto& rule : all_rules()) all.push_back(&rule);
  for (const auto& rule : level_rules()) all.push_back(&rule);
  return all;
}

const RuleDoc* find_rule_doc(std::string_view id) {
  const auto all = all_rule_docs();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const RuleDoc* rule) { return rule->id == id; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace ddptrain
