// A look at YAML text before the parser sees it: refuses what yaml-cpp lets pass or trips over.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/problem.h"

namespace ddptrain {

/// The first thing that a recipe must not hold: not UTF-8, control characters, tabs before text,
/// directives, tags, quotes that do not end on their line, escapes that are none, brackets that are
/// not closed, `{a, b}`. `pairs` is where surrogate pairs stand in double quotes.
std::optional<Problem> scan_yaml(std::string_view text, const std::string& file,
                                 std::vector<std::size_t>& pairs);

/// The place of a byte: line and column in characters from 1.
Place place_at(std::string_view text, const std::string& file, std::size_t byte);

/// Characters that the scalar which starts at `byte` takes in the text.
int width_at(std::string_view text, std::size_t byte, std::string_view value);

}  // namespace ddptrain
