// The settings of a sweep, best first, and what each came to.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/html.h"
#include "report/section.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostTrials = 500;

std::string value_html(const SweepTrialResult& trial) {
  return std::isfinite(trial.deviation)
             ? number_html(trial.value) + " ± " + number_html(trial.deviation)
             : number_html(trial.value);
}

std::string state_html(const SweepTrialResult& trial) {
  return trial.state == "failed" ? "<span class=\"bad\">failed</span>" : escaped(trial.state);
}

HtmlTable head_of(const SweepResults& sweep) {
  HtmlTable table{{"rank", "trial"}, {}, {true, true}};
  for (const auto& key : sweep.keys) {
    table.head.push_back(name_html(key));
    table.numeric.push_back(true);
  }
  for (const auto& name :
       {name_html(sweep.metric), std::string("best evaluation"), std::string("steps")}) {
    table.head.push_back(name);
    table.numeric.push_back(true);
  }
  table.head.emplace_back("state");
  table.numeric.push_back(false);
  return table;
}

std::string summary(const SweepResults& sweep) {
  const auto trials = static_cast<std::int64_t>(sweep.trials.size());
  std::int64_t steps = 0;
  for (const auto& trial : sweep.trials) steps += trial.steps;
  return fmt::format("<p>{}, {}, {}; by {}{}, of the {}.</p>\n", escaped(sweep.method),
                     plural(trials, "trial"), plural(steps, "optimizer step"),
                     name_html(sweep.metric),
                     sweep.mode == BestMode::max ? ", larger is better" : ", smaller is better",
                     escaped(sweep.weights));
}

std::string trials(const SweepResults& sweep) {
  auto table = head_of(sweep);
  const auto count = std::min(sweep.trials.size(), kMostTrials);
  for (std::size_t rank = 0; rank < count; ++rank) {
    const auto& trial = sweep.trials[rank];
    auto& row = table.rows.emplace_back();
    row = {std::to_string(rank + 1), std::to_string(trial.number)};
    for (const auto& value : trial.values) row.push_back(name_html(value));
    row.push_back(value_html(trial));
    row.push_back(number_html(trial.best));
    row.push_back(std::to_string(trial.steps));
    row.push_back(state_html(trial));
  }
  auto html = summary(sweep) + to_html(table);
  if (sweep.trials.size() > count)
    html += paragraph(
        fmt::format("and {} in trials.csv",
                    plural(static_cast<std::int64_t>(sweep.trials.size() - count), "more trial")));
  return html;
}

}  // namespace

SweepSection trials_section() { return {"trials", "Trials", trials}; }

}  // namespace ddptrain
