#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "base/output/log.h"
#include "base/output/table_text.h"
#include "base/output/terminal.h"
#include "base/text.h"
#include "callbacks/pace.h"
#include "callbacks/writers.h"

namespace ddptrain {
namespace {

/// Of the fields of the line: which a narrow terminal leaves out, the last named first.
struct Importance {
  enum { position, what, time_left, bar, rate, epoch, learning_rate, epoch_left, memory };
};

constexpr double kSecondsBetweenDraws = 0.1;
constexpr std::size_t kBarCharacters = 10;

class StatusLine final : public Callback {
 public:
  explicit StatusLine(Due due) : due_(std::move(due)) {}

  void at(Moment moment, const RunView& run, RunControl&) override {
    switch (moment) {
      case Moment::run_begin:
        pace_.begin(run.seconds);
        return log::status({step_of(run)});
      case Moment::step_end:
        return step(run);
      case Moment::evaluating:
        if (is_time(run)) draw(run, {step_of(run), evaluating(run)});
        break;
      case Moment::evaluated:
        return evaluated(run);
      case Moment::tested:
        return tested(run);
      case Moment::concluded:
        return pace_.paused(run.seconds);
      case Moment::saving:
        return draw(run, {step_of(run), {"writing a checkpoint", Importance::what}});
      case Moment::saved:
        return saved(run);
      case Moment::run_end:
        return log::status("");
    }
  }

 private:
  using Fields = std::vector<StatusField>;

  void step(const RunView& run) {
    pace_.stepped(run.seconds);
    if (is_time(run)) draw(run, with_end_of_epoch(run));
    if (!due_(run)) return;
    // The log file gets every line; a terminal has the status line already.
    const auto line = joined(progress(run));
    if (log::has_status())
      log::debug(line);
    else
      log::info(line);
  }

  void evaluated(const RunView& run) {
    pace_.paused(run.seconds);
    draw(run, with_end_of_epoch(run));
    log_in_lines(evaluation(run));
  }

  void tested(const RunView& run) {
    pace_.paused(run.seconds);
    auto fields = evaluation(run);
    fields.push_back("with the " + to_text(run.weights));
    log_in_lines(fields);
  }

  void saved(const RunView& run) {
    pace_.paused(run.seconds);
    draw(run, with_end_of_epoch(run));
    log::info("step {}  saved {}", run.step, in_run(run.checkpoint));
  }

  bool is_time(const RunView& run) const { return run.seconds - shown_at_ >= kSecondsBetweenDraws; }

  void draw(const RunView& run, Fields fields) {
    shown_at_ = run.seconds;
    if (const auto done = share_done(run))
      fields.insert(fields.begin(), {bar(*done, kBarCharacters, has_blocks_), Importance::bar});
    log::status(fields);
  }

  /// Of steps, or of the time that the run is given.
  static std::optional<double> share_done(const RunView& run) {
    if (run.seconds_left) return run.seconds / std::max(run.seconds + *run.seconds_left, 1e-9);
    if (run.total_steps <= 0) return {};
    return static_cast<double>(run.step) / static_cast<double>(run.total_steps);
  }

  static StatusField step_of(const RunView& run) {
    auto text = fmt::format("step {}", run.step);
    if (run.total_steps > 0 && !run.seconds_left) text += fmt::format("/{}", run.total_steps);
    return {text, Importance::position};
  }

  static StatusField evaluating(const RunView& run) {
    return {fmt::format("evaluating, batch {}/{}", run.evaluation_batch, run.evaluation_batches),
            Importance::what};
  }

  Fields progress(const RunView& run) const {
    Fields fields{step_of(run),
                  {"epoch " + format_fixed(run.epoch, 2), Importance::epoch},
                  {"loss " + measured(run.train_loss), Importance::what},
                  {"lr " + short_number(run.lr), Importance::learning_rate},
                  {format_fixed(run.samples_per_second, 1) + " samples/s", Importance::rate}};
    if (run.memory.total > 0)
      fields.push_back({fmt::format("memory {} of {}", format_bytes(run.memory.peak_reserved),
                                    format_bytes(run.memory.total)),
                        Importance::memory});
    const auto left = run.seconds_left ? run.seconds_left : pace_.left(run.total_steps - run.step);
    if (left && *left > 0)
      fields.push_back({"left " + format_seconds(*left), Importance::time_left});
    return fields;
  }

  /// On a terminal alone: a line that stays would be out of date.
  Fields with_end_of_epoch(const RunView& run) const {
    auto fields = progress(run);
    const auto steps = run.per_epoch - run.step % run.per_epoch;
    if (const auto left = pace_.left(steps); left && steps < run.total_steps - run.step)
      fields.push_back({"epoch " + format_seconds(*left), Importance::epoch_left});
    return fields;
  }

  static std::string joined(const Fields& fields) {
    std::vector<std::string> parts;
    for (const auto& field : fields) parts.push_back(field.text);
    return join(parts, "  ");
  }

  static std::vector<std::string> evaluation(const RunView& run) {
    std::vector<std::string> fields{fmt::format("step {}", run.step),
                                    "epoch " + format_fixed(run.epoch, 2)};
    // Scores of single classes stay in the files.
    std::size_t shown = 0;
    for (const auto& [name, value] : run.metrics)
      if (++shown <= 8) fields.push_back(one_line(name, 40) + " " + measured(value));
    if (shown > 8) fields.push_back(fmt::format("and {} more", shown - 8));
    return fields;
  }

  /// "checkpoints/step-00000050": the run folder was named at the start.
  static std::string in_run(const std::filesystem::path& checkpoint) {
    return (checkpoint.parent_path().filename() / checkpoint.filename()).string();
  }

  static void log_in_lines(const std::vector<std::string>& fields) {
    for (const auto& line : in_lines(fields, terminal_columns(STDERR_FILENO))) log::info(line);
  }

  /// Four places, as scores are read, of thousands two, of counts and from 1e5 on none; small and
  /// very large numbers by four digits.
  static std::string measured(double value) {
    if (std::isnan(value)) return "nan";  // its sign says nothing
    const double size = std::abs(value);
    if (size == 0 || (size >= 0.001 && size < 1e9))
      return format_fixed(value, size < 1e3 ? 4 : size < 1e5 && value != std::floor(value) ? 2 : 0);
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
  }

  Due due_;
  Pace pace_;
  bool has_blocks_ = is_utf8_locale();
  double shown_at_ = -1;
};

}  // namespace

std::unique_ptr<Callback> make_status_line(Due due) {
  return std::make_unique<StatusLine>(std::move(due));
}

}  // namespace ddptrain
