// What a run logs: the status line and the files of its folder, by callbacks of rank 0 that recipes
// do not name.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "callbacks/callback.h"
#include "runs/best_evaluation.h"

namespace ddptrain {

/// Asked once after every step: is it time for a line?
using Due = std::function<bool(const RunView&)>;

/// On a terminal one line that is rewritten and fits it, elsewhere one line per period: step,
/// epoch, loss, rate of learning, samples per second, memory of a device, time left; on the
/// terminal also how far an evaluation is and that a checkpoint is being written. What came of
/// those are lines of their own.
std::unique_ptr<Callback> make_status_line(Due due);

/// Logs what each evaluation let the weights write: a line with the prompt, one with the text
/// behind it.
std::unique_ptr<Callback> make_text_lines();

/// Writes runs/metrics_csv.h. Rows behind the step at which a run begins again move to
/// metrics.csv.1 (or .2 and so on, a copy of the whole). `best` gets each evaluation of the file,
/// those of earlier starts too.
std::unique_ptr<Callback> make_metrics_csv(const std::string& path,
                                           BestEvaluationSoFar* best = nullptr);

/// Writes runs/events_jsonl.h: an event per period, evaluation, checkpoint, warning, ...
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

}  // namespace ddptrain
