// What happened in a run, step by step, out of its events.
#pragma once

#include <string>
#include <vector>

#include "base/named_values.h"
#include "base/output/named_table.h"
#include "runs/generated_text.h"

namespace ddptrain {

/// Values by step; not finite where nothing is known.
struct Points {
  std::vector<double> x, y;
};

/// A value over the steps of a run, "train/loss" or "valid/accuracy".
struct RunCurve {
  std::string name;
  Points points;
};

/// What an evaluation let the weights write.
struct TextsAtStep {
  double step = 0;
  GeneratedTexts texts;
};

struct RunHistory {
  std::vector<RunCurve> steps;      // a point per log period
  std::vector<RunCurve> evaluated;  // a point per evaluation
  NamedValues last;                 // of the last evaluation; may be NaN
  std::int64_t last_step = -1;      // its step; -1: there is none
  std::vector<TextsAtStep> texts;   // in order of step
  std::vector<NamedTable> tables;   // of the run's result, else of the last evaluation
  NamedValues test;                 // of the test split
  ScoredWeights test_weights = {};
  NamedValues phases;                 // seconds of "train", "evaluation", ...; of all starts
  std::vector<std::string> warnings;  // each once, at most 1,000
  std::vector<std::int64_t> resumed;  // the steps after which it continued, in their order
  double step = 0;                    // optimizer steps made, as far as is known
  double samples_per_second = 0;      // of the last log period; 0: not known
  std::int64_t torn = 0;              // lines that cannot be read
};

/// Steps that a resumed run made again replace the earlier ones; lines that were cut are left out.
RunHistory read_history(const std::string& text);

/// How far a run has come; 0 where nothing is known.
struct RunProgress {
  double step = 0;
  double total_steps = 0;
  double time = 0;          // of the last event, seconds since 1970
  double seconds_left = 0;  // at the pace of the last two log periods
};

/// From the first and the last events of a run folder. `is_running`: what is left of the run is
/// asked for too.
RunProgress read_progress(const std::string& folder, bool is_running);

}  // namespace ddptrain
