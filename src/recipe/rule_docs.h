// Every kind of problem that a recipe can have, for `help error`, SARIF and tests.
#pragma once

#include <string_view>
#include <vector>

#include "config/rule.h"

namespace ddptrain {

/// What reading, checking and layering report, in that order. Examples are laid over a good
/// recipe that they name base.yaml, in a file of their own called recipe.yaml.
const std::vector<RuleDoc>& reading_rules();

/// Those and the rules between parts; ids are unique.
std::vector<const RuleDoc*> all_rule_docs();

/// Null where no kind of problem is called so.
const RuleDoc* find_rule_doc(std::string_view id);

}  // namespace ddptrain
