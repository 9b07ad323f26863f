// Precision, recall, F1 and support of each class, and whatever else a metric offers by row.
#include "report/class_tables.h"
#include "report/html.h"
#include "report/section.h"

namespace ddptrain {
namespace {

std::string class_scores(const ReportRuns& runs) {
  if (runs.size() != 1) return {};
  std::string html;
  for (const auto& table : class_tables(runs[0])) {
    if (table.kind != NamedTable::Kind::scores) continue;
    HtmlTable rows{{escaped(table.corner)}, {}, {}};
    for (const auto& column : table.columns) rows.head.push_back(name_html(column));
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      rows.rows.push_back({name_html(table.rows[row])});
      for (std::size_t column = 0; column < table.columns.size(); ++column)
        rows.rows.back().push_back(number_html(table.at(row, column)));
    }
    const bool many = table.rows.size() > 40;
    html += (many ? "<details><summary>" : "<h3>") + title_html(table) +
            (many ? "</summary>\n" : "</h3>\n") + to_html(rows) + (many ? "</details>\n" : "");
  }
  return html;
}

}  // namespace

Section class_scores_section() { return {"classes", "Classes", class_scores}; }

}  // namespace ddptrain
