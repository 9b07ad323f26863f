#include "config/scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace ddptrain {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

/// [-+]? (0 | [1-9][0-9]*) (. [0-9]*)? ([eE] [-+]? [0-9]+)?, also without digits before the dot.
bool is_number_text(std::string_view text) {
  std::size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const auto whole = skip_digits(text, at) - at;
  if (whole > 1 && text[at] == '0') return false;
  at += whole;
  std::size_t digits = whole;
  if (at < text.size() && text[at] == '.') {
    const auto end = skip_digits(text, at + 1);
    digits += end - at - 1;
    at = end;
  }
  if (digits == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    const auto end = skip_digits(text, at);
    if (end == at) return false;
    at = end;
  }
  return at == text.size();
}

std::string without(std::string_view text, char unwanted) {
  std::string kept(text);
  std::erase(kept, unwanted);
  return kept;
}

/// What to write instead of a number that other languages allow; empty when there is nothing to
/// say.
std::string number_hint(std::string_view text) {
  const auto plain = lower(text);
  if (plain.starts_with("0x")) {
    const auto digits = plain.substr(2);
    const bool hexadecimal = !digits.empty() && digits.size() < 15 &&
                             digits.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!hexadecimal) return {};
    return fmt::format("write {} (decimal)", std::stoll(digits, nullptr, 16));
  }
  if (plain.find('_') != std::string::npos && is_number_text(without(plain, '_')))
    return fmt::format("write {} (no '_' between digits)", without(plain, '_'));
  if (plain.find(',') != std::string::npos && is_number_text(without(plain, ',')))
    return "write it without ','";
  const auto first = plain.find_first_not_of('0');
  if (plain.starts_with('0') && first != std::string::npos && is_number_text(plain.substr(first)))
    return fmt::format("write {} (no leading zeros)", plain.substr(first));
  if (plain.ends_with(".inf") || plain == ".nan" || plain == "inf" || plain == "nan")
    return "numbers are finite";
  return {};
}

/// YAML 1.1's other words for switches.
std::string boolean_hint(std::string_view text) {
  const auto plain = lower(text);
  if (plain == "yes" || plain == "on" || plain == "true" || plain == "y") return "write true";
  if (plain == "no" || plain == "off" || plain == "false" || plain == "n") return "write false";
  return {};
}

std::string refuse(const Node& node, const std::string& wanted, const std::string& hint) {
  return fmt::format("{} is not {}{}", describe(node), wanted, hint.empty() ? "" : "; " + hint);
}

std::string quotes_hint(const Node& node) {
  const bool number = node.is_scalar() && node.quoted && is_number_text(node.text);
  return number ? fmt::format("write {} without quotes", node.text) : "";
}

}  // namespace

// As yaml-cpp reads plain scalars.
bool is_null_text(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

ScalarKind scalar_kind(const Node& scalar) {
  if (scalar.quoted) return ScalarKind::text;
  if (scalar.text == "true" || scalar.text == "false") return ScalarKind::boolean;
  return is_number_text(scalar.text) ? ScalarKind::number : ScalarKind::text;
}

std::string describe(const Node& node) {
  if (node.is_null()) return "null";
  if (node.is_list()) return "a list";
  if (node.is_map()) return "a map";
  const auto shown = node.text.size() > 60 ? node.text.substr(0, 57) + "..." : node.text;
  return node.quoted && is_number_text(shown) ? "the text \"" + shown + "\"" : "'" + shown + "'";
}

std::optional<bool> read_boolean(const Node& node, std::string& why) {
  if (node.is_scalar() && scalar_kind(node) == ScalarKind::boolean) return node.text == "true";
  why = refuse(node, "true or false", node.is_scalar() ? boolean_hint(node.text) : "");
  return {};
}

std::optional<double> read_number(const Node& node, std::string& why) {
  const bool number = node.is_scalar() && scalar_kind(node) == ScalarKind::number;
  if (number) {
    const auto value = parse_number(node.text);
    if (value) return value;
    // from_chars calls an underflow out of range too; both are beyond what a double holds.
    why = refuse(node, "a number that a double can hold", "");
    return {};
  }
  const bool bare = node.is_scalar() && !node.quoted;
  why = refuse(node, "a number", bare ? number_hint(node.text) : quotes_hint(node));
  return {};
}

std::optional<std::int64_t> read_integer(const Node& node, std::string& why) {
  const bool number = node.is_scalar() && scalar_kind(node) == ScalarKind::number;
  if (!number) {
    const bool bare = node.is_scalar() && !node.quoted;
    why = refuse(node, "an integer", bare ? number_hint(node.text) : quotes_hint(node));
    return {};
  }
  if (const auto exact = parse_integer(node.text)) return exact;
  const auto value = parse_number(node.text);
  if (value && std::trunc(*value) == *value && std::abs(*value) <= 0x1p53)
    return static_cast<std::int64_t>(*value);
  const bool whole = !value || std::trunc(*value) == *value;
  why = refuse(node, whole ? "an integer of 64 bits" : "an integer", "");
  return {};
}

std::optional<std::string> read_text(const Node& node, std::string& why) {
  if (node.is_scalar() && scalar_kind(node) == ScalarKind::text) return node.text;
  if (node.is_scalar())
    why = fmt::format("'{}' is not text; write \"{}\" with quotes", node.text, node.text);
  else
    why = refuse(node, "text", "");
  return {};
}

}  // namespace ddptrain
