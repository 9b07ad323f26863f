#include "runs/events_jsonl.h"

#include <algorithm>
#include <filesystem>

#include "base/files/files.h"
#include "runs/json_fields.h"
#include "runs/lines.h"

namespace ddptrain {
namespace {

std::string events_file(const std::string& folder) { return folder + "/" + kEventsJsonl; }

/// What has a split is a value; other keys say where it is.
bool is_value(const std::string& key) {
  return key.find('/') != std::string::npos || key == "seconds" || key == "samples_per_second";
}

/// A table as a line has it.
struct TableParts {
  std::string name;  // "valid/confusion_matrix.confusion": with the name of its file
  std::vector<std::string> rows, columns;
  std::vector<std::vector<double>> cells;  // of each row
};

TableParts parts_of(const NamedTable& table) {
  TableParts parts{table.name + "." + table.file, table.rows, table.columns, {}};
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto first =
        table.cells.begin() + static_cast<std::ptrdiff_t>(row * table.columns.size());
    parts.cells.emplace_back(first, first + static_cast<std::ptrdiff_t>(table.columns.size()));
  }
  return parts;
}

/// A square table counts what was taken for what. Without rows where cells are missing.
NamedTable table_of(TableParts parts) {
  NamedTable table;
  table.name = parts.name.substr(0, parts.name.rfind('.'));
  table.file = parts.name.substr(std::min(parts.name.size(), parts.name.rfind('.') + 1));
  table.rows = std::move(parts.rows);
  table.columns = std::move(parts.columns);
  table.kind = table.rows == table.columns ? NamedTable::Kind::confusion : NamedTable::Kind::scores;
  table.corner = table.kind == NamedTable::Kind::confusion ? "true \\ predicted" : "class";
  for (const auto& row : parts.cells) table.cells.insert(table.cells.end(), row.begin(), row.end());
  if (table.cells.size() != table.rows.size() * table.columns.size()) return {};
  return table;
}

}  // namespace

template <class Fields>
void fields(NamedTable& table, Fields& f) {
  auto parts = parts_of(table);
  f.added("name", parts.name, std::string());
  f.added("rows", parts.rows, {});
  f.added("columns", parts.columns, {});
  f.added("cells", parts.cells, {});
  table = table_of(std::move(parts));
}

template <class Fields>
void fields(LoggedMemory& memory, Fields& f) {
  auto& [peak_reserved, total] = memory;
  f("peak_reserved", peak_reserved);
  f("total", total);
}

template <class Fields>
void fields(GeneratedText& written, Fields& f) {
  auto& [weights, prompt, text, tokens, end] = written;
  f.added("weights", weights, std::string());
  f.added("prompt", prompt, std::string());
  f.added("text", text, std::string());
  f.added("tokens", tokens, std::int64_t{0});
  f.added("end", end, std::string());
}

template <class Fields>
void fields(RunEvent& event, Fields& f) {
  auto& [kind, time, step, epoch, total_steps, samples, weights, weights_step, values, metrics,
         tables, texts, device_memory, folder, text, stopped, phase_seconds] = event;
  f.added("event", kind, std::string());
  f.added("time", time, std::string());
  f("step", step);
  f("epoch", epoch);
  f("total_steps", total_steps);
  f("samples", samples);
  f("weights", weights);
  f("weights_step", weights_step);
  f.inlined(values, is_value);
  f("metrics", metrics);
  f.unless_empty("tables", tables);
  f.unless_empty("texts", texts);
  f("device_memory", device_memory);
  f("folder", folder);
  f("text", text);
  f("stopped", stopped);
  f.unless_empty("phase_seconds", phase_seconds);
}

std::string to_line(const RunEvent& event) { return lossy_json_text(ToJson::value(event)) + "\n"; }

std::optional<RunEvent> event_of(std::string_view line) {
  const auto json = json_or_null(line);
  if (!json.is_object()) return {};
  try {
    RunEvent event;
    FromJson members(json);
    fields(event, members);
    return event;
  } catch (const Json::exception&) {  // a key of another type than ours
    return {};
  }
}

std::string events_until(const std::string& text, std::int64_t step) {
  std::string kept;
  each_line(text, [&](const std::string& line) {
    const auto event = event_of(line);
    if (event && event->step && *event->step <= step) kept += line + "\n";
  });
  return kept;
}

void copy_events(const std::string& from, const std::string& to, std::int64_t step) {
  if (has_events(from))
    write_atomically(events_file(to), events_until(read_text(events_file(from)), step));
}

std::vector<RunEvent> read_events(const std::string& folder) {
  std::vector<RunEvent> events;
  if (!has_events(folder)) return events;
  for (const auto& line : split(read_text(events_file(folder)), '\n'))
    if (auto event = event_of(line)) events.push_back(std::move(*event));
  return events;
}

bool has_events(const std::string& folder) {
  std::error_code none;
  return std::filesystem::exists(events_file(folder), none);
}

bool has_saved(const std::string& folder) {
  bool saved = false;
  for (const auto& event : read_events(folder)) {
    if (event.kind == "begin") saved = false;
    if (event.kind == "checkpoint") saved = true;
  }
  return saved;
}

}  // namespace ddptrain
