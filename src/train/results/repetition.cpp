#include "train/results/repetition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/mean.h"
#include "base/output/table_text.h"
#include "base/output/terminal.h"
#include "base/quoting.h"
#include "base/text.h"
#include "recipe/run_folders.h"
#include "runs/metrics_csv.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostMetrics = 8;
constexpr std::size_t kHead = 10;  // columns
constexpr std::size_t kNarrowest = 9;

using Cells = std::vector<std::vector<std::string>>;

std::vector<std::string> columns(const std::vector<SeriesRun>& members) {
  std::vector<std::string> names;
  for (const auto& member : members)
    for (const auto& [name, value] : member.run.metrics)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

constexpr const char* kStep = "step";

/// Of the members that have a number for it; of steps a mean would mean nothing.
Mean spread_of(const std::vector<SeriesRun>& members, const std::string& name) {
  if (name == kStep) return {};
  std::vector<double> values;
  for (const auto& member : members)
    if (const double value = value_named(member.run.metrics, name); !std::isnan(value))
      values.push_back(value);
  return mean_of(values);
}

/// Columns of nine characters at least, the first of ten.
std::vector<std::string> spaced(const Cells& cells, std::size_t width) {
  auto wide = cells;
  wide[0][0].resize(std::max(wide[0][0].size(), kHead), ' ');
  for (std::size_t i = 1; i < wide[0].size(); ++i)
    wide[0][i].insert(0, wide[0][i].size() < kNarrowest ? kNarrowest - wide[0][i].size() : 0, ' ');
  const auto lines = aligned(wide);
  return all_fit(lines, width) ? lines : table_lines(cells, width);
}

/// The best evaluation of each run in place of its last one, with its step.
std::vector<SeriesRun> best_of(const std::vector<SeriesRun>& members) {
  std::vector<SeriesRun> best;
  for (const auto& [name, run] : members) {
    best.push_back({.name = name, .run = {}});
    if (!run.best) continue;
    auto& metrics = best.back().run.metrics;
    metrics.emplace_back(kStep, static_cast<double>(run.best->step));
    metrics.insert(metrics.end(), run.best->values.begin(), run.best->values.end());
  }
  return best;
}

/// Each metric as a column: its name, then its cell of each run, of "mean" and of "deviation".
std::vector<std::vector<std::string>> csv_columns(const std::vector<SeriesRun>& members,
                                                  const std::string& prefix) {
  std::vector<std::vector<std::string>> all;
  for (const auto& name : columns(members)) {
    std::vector<std::string> column{csv_cell(prefix + name)};
    for (const auto& member : members)
      column.push_back(csv_cell(value_named(member.run.metrics, name)));
    const auto spread = spread_of(members, name);
    column.push_back(csv_cell(spread.value));
    column.push_back(csv_cell(spread.deviation));
    all.push_back(std::move(column));
  }
  return all;
}

}  // namespace

Repetition::Repetition(const std::string& runs, const std::string& name, std::string recipe_text,
                       std::int64_t count)
    : path_(fmt::format("{}/{}/repeat.json", runs, name)),
      recipe_text_(std::move(recipe_text)),
      count_(count) {
  if (!fs::exists(path_)) return;
  const auto json = json_or_null(read_text(path_));
  if (!json.is_object() || json.value("recipe", Json()) != recipe_text_ ||
      json.value("count", Json()) != count_)
    return;
  const auto folders = json.value("folders", Json::array());
  for (const auto& folder : folders) {
    if (!folder.is_string() || !holds_run(folder.get<std::string>())) return;
    folders_.push_back(folder);
  }
}

void Repetition::add(const std::string& folder) {
  folders_.push_back(folder);
  const Json json{{"recipe", recipe_text_}, {"count", count_}, {"folders", folders_}};
  write_atomically(path_, lossy_json_text(json, 2) + "\n");
}

std::string Repetition::write_table(const std::string& kind,
                                    const std::vector<SeriesRun>& members) const {
  const auto path = (fs::path(path_).parent_path() / (kind + "s.csv")).string();
  write_atomically(path, members_csv(kind, members));
  return path;
}

void Repetition::finish() const { fs::remove(path_); }

std::string members_table(const std::string& kind, const std::vector<SeriesRun>& members,
                          std::size_t width) {
  const auto all = columns(members);
  const std::vector<std::string> names(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kMostMetrics)));
  Cells cells{{kind}};
  cells[0].insert(cells[0].end(), names.begin(), names.end());
  const auto add = [&](const std::string& head, const auto& value) {
    cells.push_back({head});
    for (const auto& name : names) cells.back().push_back(short_number(value(name)));
  };
  for (const auto& member : members)
    add(member.name, [&](const auto& name) { return value_named(member.run.metrics, name); });
  add("mean", [&](const auto& name) { return spread_of(members, name).value; });
  add("deviation", [&](const auto& name) { return spread_of(members, name).deviation; });
  auto text = join(spaced(cells, width), "\n") + "\n";
  if (all.size() > names.size())
    text += fmt::format("and {} more in each run's {}\n", all.size() - names.size(), kMetricsCsv);
  return text;
}

std::string best_members_table(const std::string& kind, const std::vector<SeriesRun>& members,
                               std::size_t width) {
  const BestEvaluation* by = nullptr;
  for (const auto& member : members)
    if (member.run.best) by = &*member.run.best;
  if (!by) return {};
  const auto* way = by->mode == BestMode::max ? " (larger is better)" : " (smaller is better)";
  return fmt::format("{}\n{}\n", broken_at_blanks("best weights by " + by->metric + way, width),
                     members_table(kind, best_of(members), width));
}

std::string members_csv(const std::string& kind, const std::vector<SeriesRun>& members) {
  std::vector<std::string> names{kind}, folders{"run"};
  for (const auto& member : members) {
    names.push_back(member.name);
    folders.push_back(csv_cell(member.run.folder));
  }
  for (const auto* word : {"mean", "deviation"}) {
    names.emplace_back(word);
    folders.emplace_back();
  }
  std::vector<std::vector<std::string>> all{names, folders};
  for (auto& column : csv_columns(members, "")) all.push_back(std::move(column));
  for (auto& column : csv_columns(best_of(members), "best/")) all.push_back(std::move(column));
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<std::string> cells;
    for (const auto& column : all) cells.push_back(column[i]);
    text += join(cells, ",") + "\n";
  }
  return text;
}

}  // namespace ddptrain
