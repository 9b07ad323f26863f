#include <cmath>
#include <cstdio>

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
  enum { position, what, time_left, epoch, rate, learning_rate, memory };
};

constexpr double kSecondsBetweenDraws = 0.1;

class StatusLine final : public Callback {
 public:
  explicit StatusLine(Due due) : due_(std::move(due)) {}

  void at(Moment moment, const RunView& run, RunControl&) override {
    switch (moment) {
      case Moment::run_begin:
        pace_.begin(run.seconds);
        log::status({step_of(run)});
        break;
      case Moment::step_end:
        step(run);
        break;
      case Moment::evaluating:
        if (is_time(run)) draw(run, {step_of(run), evaluating(run)});
        break;
      case Moment::evaluated:
        pace_.paused(run.seconds);
        draw(run, progress(run));
        log::info(evaluation(run));
        break;
      case Moment::tested:
        pace_.paused(run.seconds);
        log::info(evaluation(run) + "  with the weights of step " +
                  std::to_string(run.weights_step));
        break;
      case Moment::saving:
        draw(run, {step_of(run), {"writing a checkpoint", Importance::what}});
        break;
      case Moment::saved:
        pace_.paused(run.seconds);
        draw(run, progress(run));
        log::info("step " + std::to_string(run.step) + "  saved " + run.checkpoint);
        break;
      case Moment::run_end:
        log::status("");
        break;
    }
  }

 private:
  using Fields = std::vector<StatusField>;

  void step(const RunView& run) {
    pace_.stepped(run.seconds);
    if (is_time(run)) draw(run, progress(run));
    if (!due_(run)) return;
    // The log file gets every line; a terminal has the status line already.
    const auto line = joined(progress(run));
    if (log::has_status())
      log::debug(line);
    else
      log::info(line);
  }

  bool is_time(const RunView& run) const { return run.seconds - shown_at_ >= kSecondsBetweenDraws; }

  void draw(const RunView& run, const Fields& fields) {
    shown_at_ = run.seconds;
    log::status(fields);
  }

  static StatusField step_of(const RunView& run) {
    auto text = "step " + std::to_string(run.step);
    if (run.total_steps > 0 && !run.seconds_left) text += "/" + std::to_string(run.total_steps);
    return {text, Importance::position};
  }

  static StatusField evaluating(const RunView& run) {
    return {"evaluating, batch " + std::to_string(run.evaluation_batch) + "/" +
                std::to_string(run.evaluation_batches),
            Importance::what};
  }

  Fields progress(const RunView& run) const {
    Fields fields{step_of(run),
                  {"epoch " + format_fixed(run.epoch, 2), Importance::epoch},
                  {"loss " + measured(run.train_loss), Importance::what},
                  {"lr " + short_number(run.lr), Importance::learning_rate},
                  {format_fixed(run.samples_per_second, 1) + " samples/s", Importance::rate}};
    if (run.memory.total > 0)
      fields.push_back({"memory " + format_bytes(run.memory.peak_reserved) + " of " +
                            format_bytes(run.memory.total),
                        Importance::memory});
    const auto left = run.seconds_left ? run.seconds_left : pace_.left(run.total_steps - run.step);
    if (left && *left > 0)
      fields.push_back({"left " + format_seconds(*left), Importance::time_left});
    return fields;
  }

  static std::string joined(const Fields& fields) {
    std::vector<std::string> parts;
    for (const auto& field : fields) parts.push_back(field.text);
    return join(parts, "  ");
  }

  static std::string evaluation(const RunView& run) {
    std::string line = "step " + std::to_string(run.step) + "  epoch " + format_fixed(run.epoch, 2);
    // Scores of single classes stay in the files.
    std::size_t shown = 0;
    for (const auto& [name, value] : run.metrics)
      if (++shown <= 8) line += "  " + one_line(name, 40) + " " + measured(value);
    if (shown > 8) line += "  and " + std::to_string(shown - 8) + " more";
    return line;
  }

  /// Four places, as scores are read; small and large numbers by four digits.
  static std::string measured(double value) {
    const double size = std::abs(value);
    if (size == 0 || (size >= 0.001 && size < 1e5)) return format_fixed(value, 4);
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
  }

  Due due_;
  Pace pace_;
  double shown_at_ = -1;
};

}  // namespace

std::unique_ptr<Callback> make_status_line(Due due) {
  return std::make_unique<StatusLine>(std::move(due));
}

}  // namespace ddptrain
