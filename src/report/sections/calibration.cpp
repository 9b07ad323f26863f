// Whether a probability of 0.8 is right eight times out of ten: the reliability diagram.
#include "base/text.h"
#include "report/chart.h"
#include "report/html.h"
#include "report/samples.h"
#include "report/section.h"

namespace ddptrain {
namespace {

constexpr int kBins = 15;  // as in Guo et al., 2017

std::string bin_name(std::size_t index) {
  return escaped(format_fixed(static_cast<double>(index) / kBins, 2) + " – " +
                 format_fixed(static_cast<double>(index + 1) / kBins, 2));
}

std::string calibration(const ReportRuns& runs) {
  Chart chart{"share that is right, by probability", "probability of the predicted class", {}};
  chart.lines.push_back({"as it should be", {{0, 1}, {0, 1}}, 7, ChartLine::Look::dashed});
  HtmlTable errors{
      {"run", "weights", "expected calibration error", "samples"}, {}, {false, false, true, true}};
  HtmlTable table{{"probability", "samples", "mean probability", "right"}, {}, {}};
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (!has_classes(runs[r])) continue;
    const auto bins = confidence_bins(runs[r].samples.rows, kBins);
    ChartLine line{runs[r].record.name, {}, r, ChartLine::Look::plain};
    double count = 0;
    for (std::size_t i = 0; i < bins.size(); ++i) {
      if (bins[i].count == 0) continue;
      count += bins[i].count;
      line.points.x.push_back(bins[i].confidence);
      line.points.y.push_back(bins[i].accuracy);
      table.rows.push_back({bin_name(i), number_html(bins[i].count),
                            number_html(bins[i].confidence), number_html(bins[i].accuracy)});
    }
    chart.lines.push_back(std::move(line));
    errors.rows.push_back({name_html(runs[r].record.name), weights_html(runs[r].samples.weights),
                           number_html(calibration_error(bins)), number_html(count)});
  }
  if (errors.rows.empty()) return {};
  return to_html(errors) + "<div class=\"charts\">\n" + figure(chart) + "</div>\n" +
         (runs.size() > 1
              ? ""
              : "<details><summary>numbers</summary>\n" + to_html(table) + "</details>\n");
}

}  // namespace

Section calibration_section() { return {"calibration", "Calibration", calibration}; }

}  // namespace ddptrain
