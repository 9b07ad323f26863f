#include <fmt/format.h>

#include <filesystem>

#include "base/files/files.h"
#include "base/output/log.h"
#include "callbacks/append_file.h"
#include "callbacks/writers.h"
#include "runs/metrics_csv.h"

namespace ddptrain {
namespace {

/// The path with ".1", or the first that is free.
std::string free_copy(const std::string& path) {
  int number = 1;
  while (std::filesystem::exists(fmt::format("{}.{}", path, number))) ++number;
  return fmt::format("{}.{}", path, number);
}

class MetricsCsv final : public Callback {
 public:
  MetricsCsv(std::string path, BestEvaluationSoFar* best) : path_(std::move(path)), best_(best) {}

  void at(Moment moment, const RunView& run, RunControl&) override {
    if (moment == Moment::run_begin) begin(run);
    if (moment == Moment::evaluated) write_row(run);
    if (moment == Moment::tested) write_test(run);
  }

 private:
  void begin(const RunView& run) {
    if (!std::filesystem::exists(path_)) return;
    const auto before = read_text(path_);
    const auto kept = rows_until(before, run.step);
    header_ = kept.header;
    if (best_)
      for (auto& row : metrics_rows(kept.text)) best_->add(row.step, std::move(row.scores));
    if (kept.shorter) {
      const auto copy = free_copy(path_);
      write_atomically(copy, before);
      log::info("rows after step {} of {} are kept in {}", run.step, path_, copy);
    }
    if (kept.text != before) write_atomically(path_, kept.text);
  }

  static NamedValues columns(const RunView& run) {
    NamedValues all{{"step", static_cast<double>(run.step)},
                    {"epoch", run.epoch},
                    {"samples", static_cast<double>(run.samples)},
                    {"train/loss", run.train_loss},
                    {"train/lr", run.lr}};
    all.insert(all.end(), run.metrics.begin(), run.metrics.end());
    return all;
  }

  void write_row(const RunView& run) {
    const auto row = columns(run);
    begin_table(metrics_header(row), run.step);
    AppendFile(path_).write(metrics_row(row) + "\n");
    if (best_) best_->add(run.step, run.metrics);
  }

  void write_test(const RunView& run) const {
    if (header_.empty()) return;  // nothing was evaluated
    write_atomically(path_, with_test_scores(read_text(path_), run.weights.step, run.metrics));
  }

  // A run that was resumed with other metrics gets a new table.
  void begin_table(const std::string& header, std::int64_t step) {
    if (header == header_) return;
    if (!header_.empty()) {
      const auto old = fmt::format("{}.until-step-{}", path_, step);
      std::filesystem::rename(path_, old);
      log::warning("the metrics are others than before: earlier rows are in '{}'", old);
      if (best_) best_->clear();
    }
    header_ = header;
    AppendFile(path_).write(header + "\n");
  }

  std::string path_;
  std::string header_;         // as in the file; empty: no file yet
  BestEvaluationSoFar* best_;  // of the rows of the file; may be null
};

}  // namespace

std::unique_ptr<Callback> make_metrics_csv(const std::string& path, BestEvaluationSoFar* best) {
  return std::make_unique<MetricsCsv>(path, best);
}

}  // namespace ddptrain
