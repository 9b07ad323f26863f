// Every kind of problem that a recipe can have, for `help error`, SARIF and tests.
#pragma once

#include <string_view>
#include <vector>

#include "config/problem.h"

namespace ddptrain {

/// What reading, checking and layering report, in that order. Examples are laid over a good
/// recipe that they name base.yaml, in a file of their own called recipe.yaml.
const std::vector<RuleDoc>& reading_rules();

/// What `validate --level` reports where it looks beyond the recipe.
const std::vector<RuleDoc>& level_rules();

/// Both, with the rules between parts (recipe/rules/rules.h) in the middle; ids are unique.
std::vector<const RuleDoc*> all_rule_docs();

/// Null where no kind of problem is called so.
const RuleDoc* find_rule_doc(std::string_view id);

}  // namespace ddptrain
