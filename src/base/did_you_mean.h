// The end of a message about a name that is not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// "'a'", "'a' or 'b'", "'a', 'b' or 'c'".
std::string one_of(const std::vector<std::string>& names);

/// "; did you mean 'a' or 'b'?"; `otherwise` without names.
std::string did_you_mean(const std::vector<std::string>& names, std::string_view otherwise = {});

/// The same of what `nearest` found (base/text.h), which may be empty.
std::string did_you_mean(const std::string& near, std::string_view otherwise = {});

}  // namespace ddptrain
