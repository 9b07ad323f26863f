// How a CSV file is written, where it is not as RFC 4180 has it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"

namespace ddptrain {

struct Node;

enum class CsvSeparator { comma, semicolon, tab, pipe };
enum class CsvDecimal { point, comma };
enum class CsvThousands { comma, point, blank, apostrophe };
enum class CsvEncoding { utf_8, windows_1252, latin_1, utf_16 };
/// Columns of one name: an error, or "a", "a.1", "a.2", as pandas names them.
enum class DuplicateNames { error, number };
std::span<const std::string_view> names(CsvSeparator);
std::span<const std::string_view> names(CsvDecimal);
std::span<const std::string_view> names(CsvThousands);
std::span<const std::string_view> names(CsvEncoding);
std::span<const std::string_view> names(DuplicateNames);

struct CsvFormat {
  CsvSeparator separator = CsvSeparator::comma;
  CsvDecimal decimal = CsvDecimal::point;
  std::optional<CsvThousands> thousands;
  std::vector<std::string> units;
  CsvEncoding encoding = CsvEncoding::utf_8;
  std::int64_t skip_lines = 0;
  bool header = true;
  DuplicateNames duplicate_names = DuplicateNames::error;
  void fields(Fields& f);

  char separator_char() const;
  /// Whether a number may be written otherwise than "-1.5e3".
  bool plain_numbers() const;
};

/// The option `csv`, which every dataset that reads CSV files has.
void csv_field(Fields& f, CsvFormat& csv);
/// That option of a data section; the default where the section has none.
CsvFormat csv_format_of(const Node& data);

/// A number of that format as C writes it: "1.234,50 €" is "1234.50"; nothing where it is none.
/// Groups of thousands have three digits, those before the last may have two (as in India).
std::optional<std::string> plain_number(std::string_view cell, const CsvFormat& format);

}  // namespace ddptrain
