// Names that are known at compile time, such as those of an enum's values in their order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace ddptrain {

/// A literal as an argument of a template.
template <std::size_t size>
struct LiteralName {
  char text[size];
  consteval LiteralName(const char (&literal)[size]) { std::copy_n(literal, size, text); }
  constexpr std::string_view view() const { return {text, size - 1}; }
};

/// kNameList<"csv", "jsonl">: an array that lives as long as the program.
template <LiteralName... names>
inline constexpr std::array<std::string_view, sizeof...(names)> kNameList{names.view()...};

}  // namespace ddptrain
