// What a run logs: the status line and the files of its folder, by callbacks of rank 0 that recipes
// do not name, and what of those files is still true at a step that it is resumed from.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "callbacks/callback.h"

namespace ddptrain {

/// Asked once after every step: is it time for a line?
using Due = std::function<bool(const RunView&)>;

/// On a terminal one line that is rewritten and fits it, elsewhere one line per period: step,
/// epoch, loss, rate of learning, samples per second, memory of a device, time left; on the
/// terminal also how far an evaluation is and that a checkpoint is being written. What came of
/// those are lines of their own.
std::unique_ptr<Callback> make_status_line(Due due);

/// metrics.csv: a row per evaluation with step, epoch, samples, "train/loss", "train/lr" and the
/// metrics. The scores of the test split come last, in the row of the evaluation whose weights they
/// are of. No clock in it: rows behind the step at which a run begins again move to metrics.csv.1
/// (or .2 and so on, a copy of the whole), so that a resumed run's file equals an uninterrupted
/// one's.
std::unique_ptr<Callback> make_metrics_csv(const std::string& path);

/// events.jsonl: an object per period, evaluation, checkpoint, beginning and end, and of a complete
/// run for its result and the test split.
std::unique_ptr<Callback> make_events_jsonl(const std::string& path, Due due);

/// confusion.csv and whatever other tables an evaluation brings, in `folder`: those of the last
/// evaluation, of a complete run those of its result. What another than the run's own weights
/// scored is confusion.valid_ema.csv and so on.
std::unique_ptr<Callback> make_tables_csv(const std::string& folder);

/// Writes one such file.
void write_table(const std::string& folder, const NamedTable& table);

/// An event file for TensorBoard in `folder`: "train/loss", "train/lr", "train/gradient_norm",
/// "train/samples_per_second" and the metrics.
std::unique_ptr<Callback> make_tensorboard(const std::string& folder, Due due);

/// Of metrics.csv the header and the rows up to a step, without the test split, which a run that
/// goes on scores again.
struct KeptRows {
  std::string header;    // empty: there is none
  std::string text;      // header and rows
  bool shorter = false;  // rows of later steps were left out
};
KeptRows rows_until(const std::string& text, std::int64_t step);

/// metrics.csv with scores of the test split in place of those that it has: in the row of a step,
/// in a row of their own where there is none.
std::string with_test_scores(const std::string& text, std::int64_t step, const NamedValues& scores);

/// Of events.jsonl the lines up to a step.
std::string events_until(const std::string& text, std::int64_t step);

}  // namespace ddptrain
