// Two classes at every threshold: ROC, and precision by recall.
#include "report/chart.h"
#include "report/html.h"
#include "report/samples.h"
#include "report/section.h"

namespace ddptrain {
namespace {

std::string binary(const ReportRuns& runs) {
  Chart roc{
      "ROC", "false positive rate", {{"chance", {{0, 1}, {0, 1}}, 7, ChartLine::Look::dashed}}};
  Chart precision{"precision by recall", "recall", {}};
  HtmlTable table{
      {"run", "weights", "area under ROC", "average precision"}, {}, {false, false, true, true}};
  std::string positive;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (!has_classes(runs[r]) || runs[r].samples.classes.size() != 2) continue;
    const auto curves = binary_curves(runs[r].samples.rows);
    roc.lines.push_back({runs[r].record.name, curves.roc, r, ChartLine::Look::plain});
    precision.lines.push_back(
        {runs[r].record.name, curves.precision_recall, r, ChartLine::Look::plain});
    table.rows.push_back({name_html(runs[r].record.name), weights_html(runs[r].samples.weights),
                          number_html(curves.area), number_html(curves.average_precision)});
    positive = runs[r].samples.classes[1];
  }
  if (table.rows.empty()) return {};
  return "<p>Positive: " + name_html(positive) + "</p>\n" + to_html(table) +
         "<div class=\"charts\">\n" + figure(roc) + figure(precision) + "</div>\n";
}

}  // namespace

Section binary_section() { return {"thresholds", "Thresholds", binary}; }

}  // namespace ddptrain
