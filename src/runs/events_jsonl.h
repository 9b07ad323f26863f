// events.jsonl of a run folder: a line for each period, evaluation, checkpoint, beginning and end,
// for the texts of an evaluation, and of a complete run for its result and the test split.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/named_values.h"
#include "base/output/named_table.h"
#include "runs/generated_text.h"

namespace ddptrain {

inline constexpr const char* kEventsJsonl = "events.jsonl";

/// Bytes of the fullest device.
struct LoggedMemory {
  std::int64_t peak_reserved = 0;
  std::int64_t total = 0;
};

/// A line. What an event does not bring is empty.
struct RunEvent {
  std::string kind;  // "begin", "resume", "step", "evaluation", "texts", "result", "test",
                     // "checkpoint", "warning", "end"
  std::string time;  // "2026-03-01T12:34:56Z"
  std::optional<std::int64_t> step = {};
  std::optional<double> epoch = {};
  std::optional<std::int64_t> total_steps = {};  // of the run, where it begins
  std::optional<std::int64_t> samples = {};      // seen by all ranks
  std::optional<std::string> weights = {};       // that scored: "best weights", and their step
  std::optional<std::int64_t> weights_step = {};
  NamedValues values = {};                  // "train/loss", "valid/accuracy", "seconds", ...
  std::optional<NamedValues> metrics = {};  // of a result: of an earlier step, or known already
  std::vector<NamedTable> tables = {};
  GeneratedTexts texts = {};
  std::optional<LoggedMemory> device_memory = {};
  std::optional<std::string> folder = {};   // of a checkpoint
  std::optional<std::string> text = {};     // of a warning
  std::optional<std::string> stopped = {};  // why a callback ended the run
  NamedValues phase_seconds = {};           // at the end: of this start
};

/// With its end of line; and the event of a line, nothing where it is torn or none of ours.
std::string to_line(const RunEvent& event);
std::optional<RunEvent> event_of(std::string_view line);

/// The lines up to a step.
std::string events_until(const std::string& text, std::int64_t step);

/// The same of a run's file as that of another run, where the first has one.
void copy_events(const std::string& from, const std::string& to, std::int64_t step);

/// Those of RUN/events.jsonl, in their order; none where there is no file.
std::vector<RunEvent> read_events(const std::string& folder);

/// Whether training began: there is a file.
bool has_events(const std::string& folder);

/// Whether a checkpoint was written since the run last began at step 0.
bool has_saved(const std::string& folder);

}  // namespace ddptrain
