#include <filesystem>

#include "base/csv_text.h"
#include "base/files.h"
#include "base/log.h"
#include "base/text.h"
#include "callbacks/append_file.h"
#include "callbacks/writers.h"

namespace ddptrain {
namespace {

/// What of an earlier attempt's file is still true at a step.
struct KeptRows {
  std::string header;  // empty: there is none
  std::string text;    // header and rows
};

// A last line without its end was cut by a crash.
KeptRows rows_until(const std::string& text, std::int64_t step) {
  KeptRows kept;
  std::size_t at = 0;
  for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
    const auto line = text.substr(at, end - at);
    at = end + 1;
    if (kept.header.empty()) {
      kept.header = line;
      kept.text = line + "\n";
    } else if (const auto row = parse_integer(line.substr(0, line.find(',')));
               row && *row <= step) {
      kept.text += line + "\n";
    }
  }
  return kept;
}

class MetricsCsv final : public Callback {
 public:
  explicit MetricsCsv(std::string path) : path_(std::move(path)) {}

  void at(Moment moment, const RunView& run, RunControl&) override {
    if (moment == Moment::run_begin) begin(run);
    if (moment == Moment::evaluated) write_row(run);
  }

 private:
  void begin(const RunView& run) {
    if (!std::filesystem::exists(path_)) return;
    const auto before = read_text(path_);
    const auto kept = rows_until(before, run.step);
    header_ = kept.header;
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
