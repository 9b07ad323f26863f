// Verbs of other tools.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/verb.h"

namespace ddptrain {

/// Our verb for what other tools call `word`; empty where there is none.
std::string_view verb_for(std::string_view word);

/// Our verbs that a user may mean who wrote `word`: what another tool calls it, what it
/// begins, and else what is spelled nearly so. `verbs` are those of this build.
std::vector<std::string> meant_verbs(const std::string& word,
                                     const std::vector<std::string>& verbs);

/// "ddptrain has no verb 'trian'; did you mean 'train'?", or which verbs there are.
std::string no_such_verb(const std::string& word, const std::vector<Verb>& verbs);

}  // namespace ddptrain
