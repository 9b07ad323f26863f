// What the columns of a table look like, for `init`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sources/columns.h"
#include "sources/csv/csv_format.h"

namespace ddptrain {

class CsvSource;
class TableSource;

/// A column as it looks.
struct ColumnProfile {
  std::string name;
  ColumnCells cells;
  std::int64_t missing = 0;
  std::int64_t distinct = 0;
  double letters = 0;  // characters of a name, on average
  double words = 0;
  bool coded = false;                 // digits with zeros before them: names, though numbers
  std::optional<std::string> date{};  // their format in data.dates; "": as 2024-03-31
  bool time = false;                  // dates have hours that differ

  bool numbers() const { return cells.kind == ColumnKind::numbers; }
  /// A cell that is not missing, as text.
  std::string value(std::size_t row) const;
};

struct TableProfile {
  std::string path;
  std::int64_t rows = 0;
  std::vector<ColumnProfile> columns;
  std::vector<std::string> unreadable;  // columns without cells of numbers or text
  CsvFormat csv{};                      // of a CSV file
  std::vector<std::string> missing{};   // spellings of missing values that pandas does not know
  std::vector<std::string> strays{};    // as sniff_csv has them

  std::vector<std::string> names() const;
  const ColumnProfile& column(const std::string& name) const;
};

/// Every column that has cells, with numbers where all of it are. Views into `source`. A cell is
/// also missing where it is one of `missing`.
TableProfile profile_of(const TableSource& source, const std::vector<std::string>& missing);
/// The same of a CSV file that is opened for it as it seems to be written; `keep` gets the file,
/// which the profile has views into.
TableProfile profile_of_csv(const std::string& path, std::unique_ptr<CsvSource>& keep);

/// Names of files with an extension of images.
bool holds_images(const ColumnProfile& column);
bool holds_texts(const ColumnProfile& column);
/// Names, or whole numbers, few of them: classes rather than quantities.
bool holds_classes(const ColumnProfile& column);
/// A number or a name for each row, or nearly, that says nothing of it.
bool is_identifier(const TableProfile& table, const ColumnProfile& column);
/// Which rows are for validation.
bool says_split(const ColumnProfile& column);
/// The folder that the paths of images are in: empty for that of the file, or the name of one
/// within. An Error (Exit::data) where they are in neither.
std::string root_of_paths(const TableProfile& profile, const ColumnProfile& paths);
/// ", y_range: [0, 10]" for numbers without a missing one: a little wider than what they are.
std::string output_range(const ColumnProfile& target);

}  // namespace ddptrain
