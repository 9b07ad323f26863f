#include "report/events.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/secrets.h"
#include "base/text.h"

namespace ddptrain {
namespace {

using Json = nlohmann::ordered_json;

double number_of(const Json& json) { return json.is_number() ? json.get<double>() : std::nan(""); }

double number_at(const Json& event, const char* key) {
  const auto found = event.find(key);
  return found == event.end() ? std::nan("") : number_of(*found);
}

void add_point(std::vector<ReportSeries>& all, const std::string& name, double step, double value) {
  auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& series) { return series.name == name; });
  if (found == all.end()) found = all.insert(found, {name, {}});
  found->points.x.push_back(step);
  found->points.y.push_back(value);
}

void drop_after(std::vector<ReportSeries>& all, double step) {
  for (auto& series : all)
    while (!series.points.x.empty() && series.points.x.back() > step) {
      series.points.x.pop_back();
      series.points.y.pop_back();
    }
}

/// "train/loss": what has a split is a value; the others say where it is.
bool is_value(const std::string& key, const Json& json) {
  return (key.find('/') != std::string::npos || key == "samples_per_second") &&
         (json.is_number() || json.is_null());
}

std::vector<std::string> texts(const Json& json) {
  std::vector<std::string> all;
  for (const auto& text : json) all.push_back(text.is_string() ? text.get<std::string>() : "");
  return all;
}

/// A square table counts what was taken for what.
NamedTable table_of(const Json& json) {
  NamedTable table;
  const auto name = json.value("name", std::string());
  table.name = name.substr(0, name.rfind('.'));
  table.file = name.substr(std::min(name.size(), name.rfind('.') + 1));
  table.rows = texts(json.value("rows", Json::array()));
  table.columns = texts(json.value("columns", Json::array()));
  table.kind = table.rows == table.columns ? NamedTable::Kind::confusion : NamedTable::Kind::scores;
  table.corner = table.kind == NamedTable::Kind::confusion ? "true \\ predicted" : "class";
  for (const auto& row : json.value("cells", Json::array()))
    for (const auto& cell : row) table.cells.push_back(number_of(cell));
  if (table.cells.size() != table.rows.size() * table.columns.size()) return {};
  return table;
}

void take_evaluation(ReportRun& run, const Json& event, double step) {
  run.last.clear();
  for (const auto& [key, value] : event.items()) {
    if (!is_value(key, value)) continue;
    run.last.emplace_back(key, number_of(value));
    add_point(run.evaluated, key, step, run.last.back().second);
  }
  run.tables.clear();
  const auto tables = event.find("tables");
  if (tables == event.end() || !tables->is_array()) return;
  for (const auto& json : *tables)
    if (json.is_object())
      if (auto table = table_of(json); !table.rows.empty()) run.tables.push_back(std::move(table));
}

void take_step(ReportRun& run, const Json& event, double step) {
  for (const auto& [key, value] : event.items())
    if (is_value(key, value)) add_point(run.steps, key, step, number_of(value));
  if (const auto rate = number_at(event, "samples_per_second"); rate > 0)
    run.samples_per_second = rate;
}

void take_warning(ReportRun& run, const Json& event) {
  const auto text = without_secrets(event.value("text", std::string()));
  const bool known =
      std::find(run.warnings.begin(), run.warnings.end(), text) != run.warnings.end();
  if (!known && run.warnings.size() < 1000) run.warnings.push_back(text);
}

void take(ReportRun& run, const Json& event) {
  const auto kind = event.value("event", std::string());
  const auto step = number_at(event, "step");
  if (!std::isfinite(step)) return;
  run.step = kind == "resume" ? step : std::max(run.step, step);
  if (kind == "resume") drop_after(run.steps, step), drop_after(run.evaluated, step);
  if (kind == "step") take_step(run, event, step);
  if (kind == "evaluation") take_evaluation(run, event, step);
  if (kind == "warning") take_warning(run, event);
}

}  // namespace

void add_events(ReportRun& run, const std::string& text) {
  std::int64_t torn = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto event = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                                   text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (event.is_object()) {
      try {
        take(run, event);
      } catch (const nlohmann::json::exception&) {  // a key of another type than ours
        ++torn;
      }
    } else if (end > at) {
      ++torn;
    }
    at = end + 1;
  }
  if (torn > 0) run.damages.push_back("events.jsonl: " + plural(torn, "line") + " cannot be read");
}

}  // namespace ddptrain
