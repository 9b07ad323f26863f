// Rules between parts of a recipe. Each is a small function that reads values and traits, never
// classes; they stand by topic in recipe/rules/.
#pragma once

#include <string>
#include <vector>

#include "config/rule.h"
#include "recipe/rule_context.h"

namespace ddptrain {

/// A rule reports what it finds through the context, as often as it likes.
struct Rule : RuleDoc {
  void (*check)(const RuleContext&);
};

/// Every rule, topic by topic; ids are unique.
const std::vector<Rule>& all_rules();

std::vector<Rule> batch_rules();
std::vector<Rule> parallel_rules();
std::vector<Rule> length_rules();
std::vector<Rule> schedule_rules();
std::vector<Rule> stage_rules();
std::vector<Rule> optimizer_rules();
std::vector<Rule> average_rules();
std::vector<Rule> metric_rules();
std::vector<Rule> callback_rules();
std::vector<Rule> data_rules();
std::vector<Rule> mix_rules();
std::vector<Rule> transform_rules();
std::vector<Rule> progressive_rules();
std::vector<Rule> model_rules();
std::vector<Rule> run_rules();

}  // namespace ddptrain
