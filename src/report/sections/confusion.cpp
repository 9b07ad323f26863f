// How often each true class was taken for each other: a heat map, and the most confused pairs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/class_tables.h"
#include "report/html.h"
#include "report/section.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostClasses = 240;  // of a heat map, which stays below a megabyte
constexpr std::size_t kDense = 30;         // more: colors without numbers
constexpr std::size_t kMostPairs = 15;

/// 0 to 10: the share that a cell has of its row, where nothing but 0 is 0.
int shade(double count, double of_row) {
  if (!(count > 0) || !(of_row > 0)) return 0;
  return std::clamp(static_cast<int>(std::ceil(10 * count / of_row)), 1, 10);
}

std::string heat_row(const NamedTable& table, std::size_t row) {
  double total = 0;
  for (std::size_t column = 0; column < table.columns.size(); ++column)
    total += table.at(row, column);
  std::string html = fmt::format("<tr><th>{}</th>", name_html(table.rows[row]));
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const auto count = table.at(row, column);
    const auto level = shade(count, total);
    html += level == 0 ? "<td>" : fmt::format("<td class=\"h{}\">{}", level, number_html(count));
    html += "</td>";
  }
  return html + "</tr>\n";
}

std::string heat_map(const NamedTable& table) {
  const bool dense = table.rows.size() > kDense;
  std::string html =
      fmt::format("<div class=\"scroll\"><table class=\"heat{}\"><thead><tr><th>{}</th>",
                  dense ? " dense" : "", escaped(table.corner));
  for (const auto& column : table.columns) html += fmt::format("<th>{}</th>", name_html(column));
  html += "</tr></thead><tbody>\n";
  for (std::size_t row = 0; row < table.rows.size(); ++row) html += heat_row(table, row);
  return html +
         "</tbody></table></div>\n<p class=\"note\">A row is a true class, a column what was "
         "predicted; the color is the share of the row" +
         (dense ? fmt::format(". The numbers are {}under the pointer.</p>\n",
                              table.file.empty() ? "" : "in confusion.csv, and here ")
                : ".</p>\n");
}

struct Pair {
  std::size_t truth, guess;
  double count, share;
};

std::vector<Pair> pairs_of(const NamedTable& table) {
  std::vector<Pair> pairs;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    double total = 0;
    for (std::size_t column = 0; column < table.columns.size(); ++column)
      total += table.at(row, column);
    for (std::size_t column = 0; column < table.columns.size(); ++column)
      if (row != column && table.at(row, column) > 0)
        pairs.push_back({row, column, table.at(row, column), table.at(row, column) / total});
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  if (pairs.size() > kMostPairs) pairs.resize(kMostPairs);
  return pairs;
}

std::string confused(const NamedTable& table) {
  HtmlTable rows{
      {"true", "predicted", "times", "share of the true class"}, {}, {false, false, true, true}};
  for (const auto& pair : pairs_of(table))
    rows.rows.push_back({name_html(table.rows[pair.truth]), name_html(table.columns[pair.guess]),
                         number_html(pair.count),
                         number_html(std::round(1000 * pair.share) / 10) + " %"});
  if (rows.rows.empty()) return paragraph("No class was taken for another.");
  return "<h3>Most confused pairs</h3>\n" + to_html(rows);
}

/// Of one run whole; of several the pairs alone, folded away.
std::string of_table(const NamedTable& table, const ReportRun& run, bool several) {
  if (several)
    return fmt::format(
        "<details><summary>{}, {}</summary>\n"
        "{}</details>\n",
        name_html(run.record.name), title_html(table), confused(table));
  const auto title = fmt::format("<h3>{}</h3>\n", title_html(table));
  if (table.rows.size() <= kMostClasses) return title + heat_map(table) + confused(table);
  return title +
         paragraph(fmt::format("Of {} classes, only the most confused pairs are shown{}",
                               table.rows.size(),
                               table.file.empty() ? "." : "; confusion.csv has all.")) +
         confused(table);
}

std::string confusion(const ReportRuns& runs) {
  std::string html;
  for (const auto& run : runs)
    for (const auto& table : class_tables(run))
      if (table.kind == NamedTable::Kind::confusion) html += of_table(table, run, runs.size() > 1);
  return html;
}

}  // namespace

Section confusion_section() { return {"confusion", "Confusion", confusion}; }

}  // namespace ddptrain
