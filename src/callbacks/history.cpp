#include "callbacks/writers.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "base/quoting.h"
#include "base/text.h"
#include "recipe/eval_splits.h"

namespace ddptrain {
namespace {

/// Calls `take` with each line; a last one without its end was cut by a crash.
void each_line(const std::string& text, const auto& take) {
  std::size_t at = 0;
  for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
    take(text.substr(at, end - at));
    at = end + 1;
  }
}

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

/// Whether the column whose name begins here is of the test split, which come last.
bool is_of_test(const std::string& header, std::size_t begin) {
  if (header[begin] == '"') ++begin;
  const auto end = std::min(header.find('/', begin), header.find(',', begin));
  return end < header.size() && header[end] == '/' &&
         samples_of(header.substr(begin, end - begin)) == kTestSplit;
}

std::size_t count_of_test(const std::string& header) {
  std::size_t count = 0;
  auto begins = cells_of_header(header);
  for (; begins.size() > 1 && is_of_test(header, begins.back()); begins.pop_back()) ++count;
  return count;
}

/// A row of numbers without its last cells.
std::string without_last(std::string row, std::size_t cells) {
  for (; cells > 0 && !row.empty(); --cells) row.resize(std::min(row.rfind(','), row.size()));
  return row;
}

std::string without_test(const std::string& header) {
  const auto begins = cells_of_header(header);
  const auto kept = begins.size() - count_of_test(header);
  return kept == begins.size() ? header : header.substr(0, begins[kept] - 1);
}

std::optional<std::int64_t> step_of(const std::string& row) {
  return parse_integer(row.substr(0, row.find(',')));
}

}  // namespace

KeptRows rows_until(const std::string& text, std::int64_t step) {
  KeptRows kept;
  std::size_t of_test = 0;
  each_line(text, [&](const std::string& line) {
    if (kept.header.empty()) {
      of_test = count_of_test(line);
      kept.header = without_test(line);
      kept.text = kept.header + "\n";
    } else if (const auto row = step_of(line); row && *row <= step) {
      kept.text += without_last(line, of_test) + "\n";
    } else {
      kept.shorter = true;
    }
  });
  return kept;
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

std::string events_until(const std::string& text, std::int64_t step) {
  std::string kept;
  each_line(text, [&](const std::string& line) {
    const auto event = nlohmann::json::parse(line, nullptr, false);
    if (event.is_object() && event.value("step", step + 1) <= step) kept += line + "\n";
  });
  return kept;
}

}  // namespace ddptrain
