#include "sources/csv/csv_format.h"

#include <array>

#include "base/names.h"
#include "base/text.h"
#include "config/decode.h"

namespace ddptrain {
namespace {

using namespace std::string_view_literals;

// What stands between groups of digits: the sign itself, and others that people take for it.
constexpr std::array<std::array<std::string_view, 3>, 4> kThousands{
    {{","sv}, {"."sv}, {" "sv, "\u00a0"sv, "\u202f"sv}, {"'"sv, "\u2019"sv}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trim_blanks(std::string_view text) {
  while (true) {
    const auto before = text.size();
    text = trim(text);
    for (const auto blank : {"\u00a0"sv, "\u202f"sv}) {
      if (text.starts_with(blank)) text.remove_prefix(blank.size());
      if (text.ends_with(blank)) text.remove_suffix(blank.size());
    }
    if (text.size() == before) return text;
  }
}

/// Takes off one unit, before or behind.
std::string_view without_unit(std::string_view text, const std::vector<std::string>& units) {
  for (const auto& unit : units) {
    if (text.size() <= unit.size()) continue;
    if (text.ends_with(unit)) return trim_blanks(text.substr(0, text.size() - unit.size()));
    if (text.starts_with(unit)) return trim_blanks(text.substr(unit.size()));
  }
  return text;
}

/// Takes off a sign: '-', '+' or the minus of typesetters.
std::string taken_sign(std::string_view& text) {
  for (const auto minus : {"-"sv, "\u2212"sv})
    if (text.starts_with(minus)) {
      text = trim_blanks(text.substr(minus.size()));
      return "-";
    }
  if (text.starts_with('+')) text.remove_prefix(1);
  return "";
}

/// The length of what stands between groups of digits here; 0 where none does.
std::size_t group_mark(std::string_view text, const std::optional<CsvThousands>& thousands) {
  if (!thousands) return 0;
  for (const auto mark : kThousands[static_cast<std::size_t>(*thousands)])
    if (!mark.empty() && text.starts_with(mark)) return mark.size();
  return 0;
}

/// Moves the digits before the decimal sign to `number`; false where their groups are none.
bool take_whole(std::string_view& text, const CsvFormat& format, std::string& number) {
  std::size_t group = 0, groups = 0;
  while (!text.empty()) {
    if (is_digit(text[0])) {
      number += text[0];
      text.remove_prefix(1);
      ++group;
      continue;
    }
    const auto mark = group_mark(text, format.thousands);
    if (mark == 0) break;
    if (group == 0 || group > 3 || (groups > 0 && group < 2)) return false;
    text.remove_prefix(mark);
    group = 0;
    ++groups;
  }
  return groups == 0 || group == 3;
}

}  // namespace

std::span<const std::string_view> names(CsvSeparator) { return kNameList<",", ";", "tab", "|">; }
std::span<const std::string_view> names(CsvDecimal) { return kNameList<".", ",">; }
std::span<const std::string_view> names(CsvThousands) { return kNameList<",", ".", " ", "'">; }
std::span<const std::string_view> names(CsvEncoding) {
  return kNameList<"utf-8", "windows-1252", "latin-1", "utf-16">;
}
std::span<const std::string_view> names(DuplicateNames) { return kNameList<"error", "number">; }

void CsvFormat::fields(Fields& f) {
  f("separator", separator, {.doc = "What stands between cells."});
  f("decimal", decimal, {.doc = "What stands before the decimals of a number."});
  f("thousands", thousands,
    {.doc = "What stands between groups of three digits; a blank stands for no-break spaces too."});
  f("units", units,
    {.doc = "Currency signs and units before or behind numbers, which are not read.",
     .example = "[\"\u20ac\", \"%\"]",
     .items = ItemOrder::distinct});
  f("encoding", encoding,
    {.doc = "How characters are written as bytes; Excel saves windows-1252, its 'Unicode text' is "
            "utf-16."});
  f("skip_lines", skip_lines,
    {.doc = "Lines before the header that are no part of the table.", .min = 0});
  f("header", header,
    {.doc = "Whether the first row names the columns; false: they are column_1, column_2, ..."});
  f("duplicate_names", duplicate_names,
    {.doc = "Columns of one name are an error, or numbered as pandas does: a, a.1, a.2."});
  f.require(needs(is("decimal", ","), is_not("thousands", ",")));
  f.require(needs(is("thousands", "."), is("decimal", ",")));
}

char CsvFormat::separator_char() const {
  constexpr std::array<char, 4> signs{',', ';', '\t', '|'};
  return signs[static_cast<std::size_t>(separator)];
}

bool CsvFormat::plain_numbers() const {
  return decimal == CsvDecimal::point && !thousands && units.empty();
}

void csv_field(Fields& f, CsvFormat& csv) {
  f("csv", csv, {.doc = "How the CSV file is written; 'ddptrain init FILE' finds it out."});
}

CsvFormat csv_format_of(const Node& data) {
  const auto* written = data.find("csv");
  return written && written->is_map() ? decode<CsvFormat>(*written) : CsvFormat{};
}

std::optional<std::string> plain_number(std::string_view cell, const CsvFormat& format) {
  auto text = without_unit(trim_blanks(cell), format.units);
  auto number = taken_sign(text);
  text = without_unit(text, format.units);
  const bool signless = !text.empty() && (is_digit(text[0]) || text[0] == '.' || text[0] == ',');
  if (!signless || !take_whole(text, format, number)) return {};
  const char decimal = format.decimal == CsvDecimal::comma ? ',' : '.';
  if (text.starts_with(decimal)) {
    number += '.';
    text.remove_prefix(1);
    while (!text.empty() && is_digit(text[0])) {
      number += text[0];
      text.remove_prefix(1);
    }
  }
  const bool exponent = text.empty() || text[0] == 'e' || text[0] == 'E';
  if (!exponent) return {};
  return number.append(text);
}

}  // namespace ddptrain
