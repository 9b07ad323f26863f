// Numbers of a text as a person reads them.
#pragma once

#include <cctype>
#include <set>
#include <string>

namespace ddptrain::test {

/// "1.5e-05", "12", "0012" of "step-0012": digits, and what a float has between and behind them.
inline std::set<std::string> numbers_in(const std::string& text) {
  const auto is_digit = [&](std::size_t i) {
    return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
  };
  std::set<std::string> all;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_digit(at)) continue;
    auto end = at;
    const auto skip_digits = [&] {
      while (is_digit(end)) ++end;
    };
    skip_digits();
    if (text[end] == '.' && is_digit(end + 1)) ++end, skip_digits();
    const bool is_signed = end + 1 < text.size() && (text[end + 1] == '-' || text[end + 1] == '+');
    if (text[end] == 'e' && is_digit(end + (is_signed ? 2 : 1)))
      end += is_signed ? 2 : 1, skip_digits();
    all.insert(text.substr(at, end - at));
    at = end;
  }
  return all;
}

/// Those of `narrow` that `wide` does not have: numbers that were cut, or ran into another one.
inline std::set<std::string> broken_numbers(const std::string& narrow, const std::string& wide) {
  auto broken = numbers_in(narrow);
  for (const auto& number : numbers_in(wide)) broken.erase(number);
  return broken;
}

}  // namespace ddptrain::test
