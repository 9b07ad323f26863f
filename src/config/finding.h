// What a look at the text of a recipe found wrong.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace ddptrain {

/// Ends the look; `at` is a byte of the text.
struct Finding {
  std::size_t at;
  std::string rule;
  std::string message;
};

/// YAML reads a '#' right behind something as part of it.
inline constexpr const char* kTightComment =
    "a space is missing before the '#'; text that holds it needs quotes around all of it";

[[noreturn]] inline void refuse_at(std::size_t at, std::string message,
                                   std::string rule = "syntax") {
  throw Finding{at, std::move(rule), std::move(message)};
}

}  // namespace ddptrain
