#include "recipe/sweep/words.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "config/encode.h"

namespace ddptrain {
namespace {

/// The parts between commas that are in no brackets and no quotes.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth <= 0) {
      parts.emplace_back();
      continue;
    }
    parts.back() += c;
  }
  for (auto& part : parts) part = trim(part);
  return parts;
}

/// "{min: 1e-5, max: 1e-1, log: true}" of "log:1e-5..1e-1".
std::optional<std::string> range_of(std::string_view text) {
  const bool log = text.starts_with("log:");
  if (log) text.remove_prefix(4);
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) return {};
  const std::string low(trim(text.substr(0, dots)));
  const std::string high(trim(text.substr(dots + 2)));
  if (!parse_number(low) || !parse_number(high)) return {};
  return fmt::format("{{min: {}, max: {}{}", low, high, log ? ", log: true}" : "}");
}

std::string entry(const std::string& key, const std::string& values) {
  return fmt::format("sweep.keys={{{}: {}}}", to_flow(Node::quoted_text(key)), values);
}

std::string with_values(const std::string& word) {
  const auto equals = word.find('=');
  if (equals == std::string::npos || equals == 0 || word[equals - 1] == '+') return word;
  const auto key = word.substr(0, equals), text = word.substr(equals + 1);
  if (key == "sweep" || key.starts_with("sweep.")) return word;
  if (const auto range = range_of(trim(text))) return entry(key, *range);
  const auto parts = parts_of(text);
  if (parts.size() == 1) return word;
  for (const auto& part : parts)
    if (part.empty())
      throw Error(Exit::recipe,
                  "'{}': nothing stands between two commas, or behind the last one; quotes make a "
                  "text with commas one value",
                  word);
  return entry(key, fmt::format("[{}]", join(parts, ", ")));
}

}  // namespace

std::vector<std::string> with_sweep_keys(std::vector<std::string> overrides) {
  for (auto& word : overrides) word = with_values(word);
  return overrides;
}

}  // namespace ddptrain
