// Detects the dialect of a CSV file, for `init`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sources/csv/csv_format.h"

namespace ddptrain {

struct SniffedCsv {
  CsvFormat format;
  std::vector<std::string> missing;  // spellings of missing values that pandas does not know
  /// Sentences about cells in columns of numbers that are none: where, and that they are missing.
  std::vector<std::string> strays;
};

/// The encoding from the bytes, the separator from the numbers of fields, the style of numbers from
/// the columns that are numbers in it. Throws an Error (Exit::data) where the file cannot be read.
SniffedCsv sniff_csv(const std::string& path);

/// "separator ';', decimal ','": what is not as by default; empty where all is.
std::string csv_in_words(const CsvFormat& format);
/// "  csv: {separator: ;, decimal: ','}\n": the same as lines of a recipe.
std::string csv_lines(const CsvFormat& format);
/// "  missing: [...]\n" where there are more spellings than pandas knows.
std::string missing_lines(const std::vector<std::string>& more);
/// Those of missing_lines, or those of pandas.
std::vector<std::string> missing_spellings(const std::vector<std::string>& more);

}  // namespace ddptrain
