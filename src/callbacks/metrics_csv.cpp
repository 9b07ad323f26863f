#include <filesystem>

#include "base/files/files.h"
#include "base/output/log.h"
#include "base/quoting.h"
#include "base/text.h"
#include "callbacks/append_file.h"
#include "callbacks/writers.h"

namespace ddptrain {
namespace {

/// metrics.csv.1, or the first that is free.
std::string free_copy(const std::string& path) {
  int number = 1;
  while (std::filesystem::exists(path + "." + std::to_string(number))) ++number;
  return path + "." + std::to_string(number);
}

class MetricsCsv final : public Callback {
 public:
  explicit MetricsCsv(std::string path) : path_(std::move(path)) {}

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
    if (kept.shorter) {
      const auto copy = free_copy(path_);
      write_atomically(copy, before);
      log::info("rows after step " + std::to_string(run.step) + " of " + path_ + " are kept in " +
                copy);
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
    std::vector<std::string> names, values;
    for (const auto& [name, value] : columns(run)) {
      names.push_back(csv_cell(name));
      values.push_back(format_number(value));
    }
    begin_table(join(names, ","), run.step);
    AppendFile(path_).write(join(values, ",") + "\n");
  }

  void write_test(const RunView& run) const {
    if (header_.empty()) return;  // nothing was evaluated
    write_atomically(path_, with_test_scores(read_text(path_), run.weights.step, run.metrics));
  }

  // A run that was resumed with other metrics gets a new table.
  void begin_table(const std::string& header, std::int64_t step) {
    if (header == header_) return;
    if (!header_.empty()) {
      const auto old = path_ + ".until-step-" + std::to_string(step);
      std::filesystem::rename(path_, old);
      log::warning("the metrics are others than before: earlier rows are in '" + old + "'");
    }
    header_ = header;
    AppendFile(path_).write(header + "\n");
  }

  std::string path_;
  std::string header_;  // as in the file; empty: no file yet
};

}  // namespace

std::unique_ptr<Callback> make_metrics_csv(const std::string& path) {
  return std::make_unique<MetricsCsv>(path);
}

}  // namespace ddptrain
