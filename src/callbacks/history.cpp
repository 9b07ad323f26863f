#include "callbacks/writers.h"

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace ddptrain {
namespace {

/// Calls `take` with each line; a last one without its end was cut by a crash.
void each_line(const std::string& text, const auto& take) {
  std::size_t at = 0;
  for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
    take(text.substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace

KeptRows rows_until(const std::string& text, std::int64_t step) {
  KeptRows kept;
  each_line(text, [&](const std::string& line) {
    if (kept.header.empty()) {
      kept.header = line;
      kept.text = line + "\n";
    } else if (const auto row = parse_integer(line.substr(0, line.find(',')));
               row && *row <= step) {
      kept.text += line + "\n";
    } else {
      kept.shorter = true;
    }
  });
  return kept;
}

std::string events_until(const std::string& text, std::int64_t step) {
  std::string kept;
  each_line(text, [&](const std::string& line) {
    const auto event = nlohmann::json::parse(line, nullptr, false);
    if (event.is_object() && event.value("step", step + 1) <= step) kept += line + "\n";
  });
  return kept;
}

}  // namespace ddptrain
