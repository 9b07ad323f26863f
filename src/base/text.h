// Small questions about text that every floor asks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// Bytes of foreign text in one line of a terminal or log.
constexpr std::size_t kLongestShown = 4000;

std::string join(const std::vector<std::string>& parts, std::string_view separator);
/// "a,b,,c" at ',' gives four parts; an empty text gives one empty part.
std::vector<std::string> split(std::string_view text, char separator);
/// Without blanks at both ends.
std::string_view trim(std::string_view text);
std::string lower(std::string_view text);

/// Edits (insert, delete, replace, swap neighbors) that turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);
/// The candidate that a user who wrote `word` most likely meant, empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// The whole text as a decimal number, otherwise nothing: no blanks, no "0x", no "inf".
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_number(std::string_view text);

/// The shortest text that reads back as the same number: "0.1", "1e-05", "3".
std::string format_number(double value);
std::string format_bytes(std::int64_t bytes);  // "1.2 MiB"
std::string format_seconds(double seconds);    // "12.3 s", "2 min 5 s", "1 h 30 min"
std::string format_fixed(double value, int digits);
std::string plural(std::int64_t count, std::string_view noun);  // "1 error", "2 errors"

/// Text that others wrote (names of files and classes, values, messages of libraries) as one line
/// that does nothing but show it: control characters, characters that turn the direction of
/// writing, and bytes that are no UTF-8 as "\\n", "\\x1b", "\\u202e"; "::" at the start and "##["
/// lose the meaning that CI gives them; of what has more than `most` bytes the middle is left out.
std::string shown(std::string_view text, std::size_t most = kLongestShown);
/// Lines that we laid out ourselves: the same, but a line break stays one and so does a tabulator.
std::string shown_lines(std::string_view text);

/// Characters of UTF-8 text, and where it stops being UTF-8 (nothing when it is throughout).
std::size_t count_characters(std::string_view text);
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// "'a'", "'a' or 'b'", "'a', 'b' or 'c'".
std::string one_of(const std::vector<std::string>& names);

/// "; did you mean 'a' or 'b'?"; `otherwise` without names.
std::string did_you_mean(const std::vector<std::string>& names, std::string_view otherwise = {});

/// The same of what `nearest` found (base/text.h), which may be empty.
std::string did_you_mean(const std::string& near, std::string_view otherwise = {});

}  // namespace ddptrain
