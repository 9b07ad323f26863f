#include "runs/metrics_csv.h"

#include <cmath>
#include <filesystem>
#include <limits>

#include "base/files/files.h"
#include "base/quoting.h"
#include "base/text.h"
#include "recipe/eval_splits.h"
#include "runs/lines.h"

namespace ddptrain {
namespace {

/// Where each cell of a header begins; names with commas are in quotes.
std::vector<std::size_t> cells_of_header(const std::string& header) {
  std::vector<std::size_t> begins{0};
  bool quoted = false;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (header[i] == '"') quoted = !quoted;
    if (header[i] == ',' && !quoted) begins.push_back(i + 1);
  }
  return begins;
}

/// The text of a cell without its quotes, doubled ones single.
std::string unquoted(const std::string& cell) {
  if (cell.size() < 2 || cell.front() != '"') return cell;
  std::string text;
  for (std::size_t i = 1; i + 1 < cell.size(); ++i) {
    text += cell[i];
    if (cell[i] == '"') ++i;
  }
  return text;
}

std::vector<std::string> names_of(const std::string& header) {
  auto begins = cells_of_header(header);
  std::vector<std::string> names;
  begins.push_back(header.size() + 1);
  for (std::size_t i = 0; i + 1 < begins.size(); ++i)
    names.push_back(unquoted(header.substr(begins[i], begins[i + 1] - 1 - begins[i])));
  return names;
}

bool is_score(const std::string& name) {
  return name.find('/') != std::string::npos && !name.starts_with("train/");
}

bool is_of_test_split(const std::string& name) {
  const auto slash = name.find('/');
  return slash != std::string::npos && samples_of(name.substr(0, slash)) == kTestSplit;
}

/// Columns of the test split come last.
std::size_t count_of_test(const std::string& header) {
  const auto names = names_of(header);
  std::size_t count = 0;
  while (count + 1 < names.size() && is_of_test_split(names[names.size() - 1 - count])) ++count;
  return count;
}

/// A row of numbers without its last cells.
std::string without_last(std::string row, std::size_t cells) {
  for (; cells > 0 && !row.empty(); --cells) row.resize(std::min(row.rfind(','), row.size()));
  return row;
}

std::string without_test_columns(const std::string& header) {
  const auto begins = cells_of_header(header);
  const auto kept = begins.size() - count_of_test(header);
  return kept == begins.size() ? header : header.substr(0, begins[kept] - 1);
}

std::optional<std::int64_t> step_of(const std::string& row) {
  return parse_integer(row.substr(0, row.find(',')));
}

std::string text_in(const std::string& folder) {
  const auto file = folder + "/" + kMetricsCsv;
  std::error_code none;
  return std::filesystem::exists(file, none) ? read_text(file) : "";
}

}  // namespace

std::string metrics_header(const NamedValues& columns) {
  std::vector<std::string> names;
  for (const auto& column : columns) names.push_back(csv_cell(column.first));
  return join(names, ",");
}

std::string metrics_row(const NamedValues& columns) {
  std::vector<std::string> cells;
  for (const auto& column : columns) cells.push_back(format_number(column.second));
  return join(cells, ",");
}

std::vector<MetricsRow> metrics_rows(const std::string& text) {
  std::vector<MetricsRow> rows;
  std::vector<std::string> names;
  each_line(text, [&](const std::string& line) {
    if (names.empty()) {
      names = names_of(line);
      return;
    }
    const auto cells = split(line, ',');
    if (names[0] != "step" || cells.size() != names.size()) return;
    MetricsRow row{parse_integer(cells[0]).value_or(-1), {}};
    for (std::size_t i = 1; i < names.size(); ++i)
      if (is_score(names[i]))
        row.scores.emplace_back(names[i], parse_number(cells[i]).value_or(std::nan("")));
    rows.push_back(std::move(row));
  });
  return rows;
}

NamedValues without_test_split(NamedValues scores) {
  std::erase_if(scores, [](const auto& score) { return is_of_test_split(score.first); });
  return scores;
}

std::optional<MetricsRow> last_metrics(const std::string& folder) {
  auto rows = metrics_rows(text_in(folder));
  if (rows.empty()) return {};
  std::erase_if(rows.back().scores, [](const auto& score) { return std::isnan(score.second); });
  return std::move(rows.back());
}

std::optional<BestEvaluation> best_evaluation(const std::string& folder,
                                              const WatchedMetric& watched) {
  BestEvaluationSoFar best(watched);
  for (auto& row : metrics_rows(text_in(folder)))
    best.add(row.step, without_test_split(std::move(row.scores)));
  return best.value();
}

KeptRows rows_until(const std::string& text, std::int64_t step) {
  KeptRows kept;
  std::size_t of_test = 0;
  each_line(text, [&](const std::string& line) {
    if (kept.header.empty()) {
      of_test = count_of_test(line);
      kept.header = without_test_columns(line);
      kept.text = kept.header + "\n";
    } else if (const auto row = step_of(line); row && *row <= step) {
      kept.text += without_last(line, of_test) + "\n";
    } else {
      kept.shorter = true;
    }
  });
  return kept;
}

void copy_metrics(const std::string& from, const std::string& to, std::int64_t step) {
  if (std::filesystem::exists(from + "/" + kMetricsCsv))
    write_atomically(to + "/" + kMetricsCsv, rows_until(text_in(from), step).text);
}

std::string with_test_scores(const std::string& text, std::int64_t step,
                             const NamedValues& scores) {
  const auto rows = rows_until(text, std::numeric_limits<std::int64_t>::max());
  std::string names, cells, table;
  for (const auto& [name, value] : scores) {
    names += "," + csv_cell(name);
    cells += "," + format_number(value);
  }
  bool found = false;
  each_line(rows.text, [&](const std::string& line) {
    const bool here = !table.empty() && step_of(line) == step;
    found = found || here;
    table += line + (table.empty() ? names : here ? cells : std::string(scores.size(), ',')) + "\n";
  });
  if (found) return table;
  const auto columns = cells_of_header(rows.header).size();
  return table + std::to_string(step) + std::string(columns - 1, ',') + cells + "\n";
}

}  // namespace ddptrain
