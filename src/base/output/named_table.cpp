#include "base/output/named_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/output/table_text.h"
#include "base/output/terminal.h"
#include "base/quoting.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostName = 24;
constexpr std::size_t kMostRows = 40;     // of a whole table
constexpr std::size_t kMostTelling = 10;  // rows where it is not whole

using Lines = std::vector<std::string>;

std::string shown_name(const std::string& name) { return one_line(name, kMostName); }

std::vector<std::string> heading(const NamedTable& table) {
  std::vector<std::string> line{table.corner};
  for (const auto& column : table.columns) line.push_back(shown_name(column));
  return line;
}

std::vector<std::string> cells_of(const NamedTable& table, std::size_t row) {
  std::vector<std::string> line{shown_name(table.rows[row])};
  for (std::size_t column = 0; column < table.columns.size(); ++column)
    line.push_back(short_number(table.at(row, column)));
  return line;
}

/// Under "valid/confusion_matrix: best weights, step 1200", in several lines where that is too
/// wide.
Lines titled(const NamedTable& table, const std::string& what, const Lines& lines,
             std::size_t columns) {
  const auto name = table.name + what, weights = to_text(table.weights);
  Lines all{weights.empty() ? name : name + ": " + weights};
  if (!all_fit(all, columns)) {
    all = {one_line(name, columns)};
    if (!weights.empty())
      for (auto& line : split(broken_at_blanks(weights, columns), '\n')) all.push_back(line);
  }
  all.insert(all.end(), lines.begin(), lines.end());
  return all;
}

using Cells = std::vector<std::vector<std::string>>;

Cells some_rows(const NamedTable& table, const std::vector<std::size_t>& rows) {
  Cells cells{heading(table)};
  for (const auto row : rows) cells.push_back(cells_of(table, row));
  return cells;
}

struct Confused {
  std::size_t truth, guess;
  double count;
};

/// Pairs of different classes, the most frequent first.
std::vector<Confused> confused_pairs(const NamedTable& table) {
  std::vector<Confused> pairs;
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    for (std::size_t column = 0; column < table.columns.size(); ++column)
      if (row != column && table.at(row, column) > 0)
        pairs.push_back({row, column, table.at(row, column)});
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  return pairs;
}

Lines most_confused(const NamedTable& table, std::size_t columns) {
  const auto pairs = confused_pairs(table);
  if (pairs.empty()) return titled(table, ": no class was taken for another", {}, columns);
  Cells cells{{"true", "predicted", "times"}};
  for (std::size_t i = 0; i < std::min(pairs.size(), kMostTelling); ++i)
    cells.push_back({shown_name(table.rows[pairs[i].truth]),
                     shown_name(table.columns[pairs[i].guess]), short_number(pairs[i].count)});
  return titled(table, ", the most confused classes", table_lines(cells, columns), columns);
}

/// By the third column from the left, f1 in a table of scores; ties in the table's order.
Lines lowest(const NamedTable& table, std::size_t columns) {
  std::vector<std::size_t> rows(table.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const auto column = std::min<std::size_t>(2, table.columns.size() - 1);
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return table.at(a, column) < table.at(b, column);
  });
  rows.resize(std::min(rows.size(), kMostTelling));
  return titled(table, ", the lowest " + table.columns[column],
                table_lines(some_rows(table, rows), columns), columns);
}

/// Names of columns that every row ends with, and their cells.
std::pair<std::string, std::string> weights_columns(const NamedTable& table) {
  if (table.weights.name.empty() || table.kind == NamedTable::Kind::confusion) return {};
  return {",weights,step", "," + csv_cell(table.weights.name) + "," +
                               (table.weights.step < 0 ? "" : std::to_string(table.weights.step))};
}

/// "true \\ predicted (best weights, step 1200)".
std::string corner_of(const NamedTable& table) {
  const auto weights = to_text(table.weights);
  if (weights.empty() || table.kind == NamedTable::Kind::scores) return table.corner;
  return table.corner + " (" + weights + ")";
}

}  // namespace

std::string to_text(const ScoredWeights& weights) {
  if (weights.name.empty() || weights.step < 0) return weights.name;
  return fmt::format("{}, step {}", weights.name, weights.step);
}

std::optional<double> find_cell(const NamedTable& table, std::string_view name) {
  if (!name.starts_with(table.name + "/")) return {};
  name.remove_prefix(table.name.size() + 1);
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (!name.starts_with(table.rows[row] + "/")) continue;
    const auto rest = name.substr(table.rows[row].size() + 1);
    const auto found = std::find(table.columns.begin(), table.columns.end(), rest);
    if (found != table.columns.end())
      return table.at(row, static_cast<std::size_t>(found - table.columns.begin()));
  }
  return {};
}

std::string to_csv(const NamedTable& table) {
  const auto [head, tail] = weights_columns(table);
  std::string text = csv_cell(corner_of(table));
  for (const auto& column : table.columns) text += "," + csv_cell(column);
  text += head + "\n";
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    text += csv_cell(table.rows[row]);
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      const double value = table.at(row, column);
      text += "," + (value == value ? format_number(value) : std::string());
    }
    text += tail + "\n";
  }
  return text;
}

std::vector<std::string> to_lines(const NamedTable& table, std::size_t columns) {
  if (table.rows.empty() || table.columns.empty()) return {};
  if (table.rows.size() <= kMostRows) {
    std::vector<std::size_t> all(table.rows.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const auto lines = aligned(some_rows(table, all));
    if (all_fit(lines, columns)) return titled(table, "", lines, columns);
  }
  return table.kind == NamedTable::Kind::confusion ? most_confused(table, columns)
                                                   : lowest(table, columns);
}

}  // namespace ddptrain
