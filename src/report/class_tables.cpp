#include "report/class_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "metrics/scores/class_counts.h"
#include "report/samples.h"

namespace ddptrain {
namespace {

constexpr std::size_t kLargestMatrix = 1000;

/// Samples that count towards the loss and have one of the classes as truth.
bool counts(const SampleOutcome& sample, std::size_t classes) {
  const auto is_class = [&](double value) {
    return value >= 0 && value < static_cast<double>(classes);
  };
  return std::isfinite(sample.loss) && is_class(sample.truth) && is_class(sample.predicted);
}

/// Named by the data, or else numbered.
std::vector<std::string> names_of_classes(const ReportRun& run) {
  if (!run.samples.classes.empty()) return run.samples.classes;
  double last = 0;
  for (const auto& sample : run.samples.rows)
    last = std::max({last, sample.truth, sample.predicted});
  std::vector<std::string> names;
  for (double i = 0; i <= std::min(last, static_cast<double>(kLargestMatrix)); ++i)
    names.push_back(std::to_string(std::llround(i)));
  return names;
}

std::string split_name(const ReportRun& run) {
  const auto kept = static_cast<std::int64_t>(run.samples.rows.size());
  const auto all = run.samples.of;
  return kept < all ? fmt::format("valid, {} of {}", kept, plural(all, "sample"))
                    : "valid, " + plural(kept, "sample");
}

NamedTable confusion_of(const ReportRun& run, const std::vector<std::string>& classes) {
  NamedTable table{
      NamedTable::Kind::confusion, split_name(run), "", "true \\ predicted", classes, classes, {}};
  table.weights = run.samples.weights;
  table.cells.resize(classes.size() * classes.size());
  for (const auto& sample : run.samples.rows)
    if (counts(sample, classes.size()))
      table.cells[static_cast<std::size_t>(sample.truth) * classes.size() +
                  static_cast<std::size_t>(sample.predicted)] += 1;
  return table;
}

}  // namespace

std::vector<NamedTable> class_tables(const ReportRun& run) {
  auto tables = run.history.tables;
  if (!has_classes(run)) return tables;
  const auto has = [&](NamedTable::Kind kind) {
    return std::any_of(tables.begin(), tables.end(),
                       [&](const auto& table) { return table.kind == kind; });
  };
  const auto classes = names_of_classes(run);
  if (classes.size() > kLargestMatrix || classes.size() < 2) return tables;
  const auto confusion = confusion_of(run, classes);
  const bool no_scores = !has(NamedTable::Kind::scores);
  if (!has(NamedTable::Kind::confusion)) tables.push_back(confusion);
  if (no_scores) tables.push_back(class_report(confusion, ""));
  return tables;
}

}  // namespace ddptrain
