// A file that grows by whole lines.
#pragma once

#include <string>

namespace ddptrain {

/// Calls `act` with each line; a last one without a newline was truncated by a crash.
void each_line(const std::string& text, const auto& act) {
  std::size_t at = 0;
  for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
    act(text.substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace ddptrain
