#include "sources/brace_pattern.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::size_t most_names = 1'000'000;

[[noreturn]] void refuse(std::string_view pattern, const std::string& why) {
  throw Error(Exit::data, "pattern '{}': {}", pattern, why);
}

/// "{007..012}" counts up or down, as wide as the wider end where one begins with a zero.
std::vector<std::string> numbers(std::string_view pattern, std::string_view inside,
                                 std::size_t dots) {
  const auto from = inside.substr(0, dots), to = inside.substr(dots + 2);
  const auto first = parse_integer(std::string(from)), last = parse_integer(std::string(to));
  if (!first || !last || *first < 0 || *last < 0)
    refuse(pattern, fmt::format("'{}' is no range of numbers, as in 000..099", inside));
  const auto count = static_cast<std::size_t>(*first < *last ? *last - *first : *first - *last) + 1;
  if (count > most_names) refuse(pattern, "more than a million names");
  const bool padded = (from.size() > 1 && from[0] == '0') || (to.size() > 1 && to[0] == '0');
  const auto width = padded ? std::max(from.size(), to.size()) : 1;
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) {
    const auto step = static_cast<std::int64_t>(i);
    all.push_back(fmt::format("{:0{}}", *first < *last ? *first + step : *first - step, width));
  }
  return all;
}

std::vector<std::string> choices(std::string_view pattern, std::string_view inside) {
  if (const auto dots = inside.find(".."); dots != inside.npos)
    return numbers(pattern, inside, dots);
  if (inside.find(',') == inside.npos)
    refuse(pattern, "'{" + std::string(inside) + "}' is neither a range nor a list");
  return split(inside, ',');
}

}  // namespace

std::vector<std::string> expand_braces(std::string_view pattern) {
  std::vector<std::string> names{""};
  auto rest = pattern;
  while (!rest.empty()) {
    const auto open = std::min(rest.find('{'), rest.size());
    const auto plain = rest.substr(0, open);
    if (plain.find('}') != plain.npos) refuse(pattern, "a '}' without a '{'");
    for (auto& name : names) name += plain;
    rest.remove_prefix(open);
    if (rest.empty()) break;
    const auto close = rest.find('}');
    const auto inside = rest.substr(1, std::min(close, rest.size()) - 1);
    if (close == rest.npos) refuse(pattern, "a '{' without a '}'");
    if (inside.find('{') != inside.npos) refuse(pattern, "braces in braces");
    const auto each = choices(pattern, inside);
    if (each.size() * names.size() > most_names) refuse(pattern, "more than a million names");
    std::vector<std::string> longer;
    for (const auto& name : names)
      for (const auto& choice : each) longer.push_back(name + choice);
    names = std::move(longer);
    rest.remove_prefix(close + 1);
  }
  return names;
}

}  // namespace ddptrain
