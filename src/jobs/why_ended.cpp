#include "jobs/why_ended.h"

#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "launch/signals.h"

namespace ddptrain {

std::string why_ended(int code, const std::string& file) {
  constexpr std::string_view mark = "error: ";
  const auto lines =
      std::filesystem::exists(file) ? split(read_text(file), '\n') : std::vector<std::string>();
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    if (const auto at = line->find(mark); at != std::string::npos)
      return line->substr(at + mark.size());
  if (code > 128) return "ended by " + signal_name(code - 128);
  if (code == static_cast<int>(Exit::non_finite)) return "the loss is not finite";
  return "ended with exit code " + std::to_string(code);
}

}  // namespace ddptrain
