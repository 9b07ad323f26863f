// Verbs of other tools.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// Our verb for what other tools call `word`; empty where there is none.
std::string_view verb_for(std::string_view word);

/// Our verbs that somebody may mean who wrote `word`: what another tool calls it, what is spelt
/// nearly so, what it begins, and else what begins like it. `verbs` are those of this build.
std::vector<std::string> meant_verbs(const std::string& word,
                                     const std::vector<std::string>& verbs);

}  // namespace ddptrain
