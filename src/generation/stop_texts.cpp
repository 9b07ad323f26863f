#include "generation/stop_texts.h"

#include <algorithm>
#include <utility>

namespace ddptrain {
namespace {

/// Bytes at the end of a text with which `stop` may begin.
std::size_t begun(std::string_view text, std::string_view stop) {
  auto length = std::min(text.size(), stop.size() - 1);
  while (!text.ends_with(stop.substr(0, length))) --length;
  return length;
}

}  // namespace

std::string StopTexts::add(std::string_view piece) {
  held_ += piece;
  auto first = std::string::npos;
  std::size_t kept = 0;
  for (const auto& stop : stops_) {
    first = std::min(first, held_.find(stop));
    kept = std::max(kept, begun(held_, stop));
  }
  stopped_ = first != std::string::npos;
  auto shown = held_.substr(0, stopped_ ? first : held_.size() - kept);
  held_.erase(0, stopped_ ? held_.size() : shown.size());
  return shown;
}

std::string StopTexts::finish() { return std::exchange(held_, {}); }

}  // namespace ddptrain
