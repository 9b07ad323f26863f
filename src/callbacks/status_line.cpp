#include <cstdio>

#include "base/log.h"
#include "base/text.h"
#include "callbacks/writers.h"

namespace ddptrain {
namespace {

class StatusLine final : public Callback {
 public:
  explicit StatusLine(Due due) : due_(std::move(due)) {}

  void at(Moment moment, const RunView& run, RunControl&) override {
    switch (moment) {
      case Moment::run_begin:
        first_step_ = run.step;
        break;
      case Moment::step_end:
        step(run);
        break;
      case Moment::evaluated:
        log::info(evaluation(run));
        break;
      case Moment::saved:
        log::info("step " + std::to_string(run.step) + "  saved " + run.checkpoint);
        break;
      case Moment::run_end:
        log::status("");
        break;
    }
  }

 private:
  void step(const RunView& run) {
    if (log::is_terminal() && run.seconds - shown_at_ >= 0.1) {
      shown_at_ = run.seconds;
      log::status(progress(run));
    }
    if (!due_(run)) return;
    // The log file gets every line; a terminal has the status line already.
    if (log::is_terminal())
      log::debug(progress(run));
    else
      log::info(progress(run));
  }

  std::string progress(const RunView& run) const {
    std::string line = "step " + std::to_string(run.step);
    if (run.total_steps > 0) line += "/" + std::to_string(run.total_steps);
    line += "  epoch " + format_fixed(run.epoch, 2) + "  loss " + format_fixed(run.train_loss, 4) +
            "  lr " + short_number(run.lr) + "  " + format_fixed(run.samples_per_second, 1) +
            " samples/s";
    const auto made = run.step - first_step_;
    if (run.step < run.total_steps && made > 0)
      line += "  left " + format_seconds(run.seconds / static_cast<double>(made) *
                                         static_cast<double>(run.total_steps - run.step));
    return line;
  }

  static std::string evaluation(const RunView& run) {
    std::string line = "step " + std::to_string(run.step) + "  epoch " + format_fixed(run.epoch, 2);
    // Scores of single classes stay in the files.
    std::size_t shown = 0;
    for (const auto& [name, value] : run.metrics)
      if (++shown <= 8) line += "  " + name + " " + format_fixed(value, 4);
    if (shown > 8) line += "  and " + std::to_string(shown - 8) + " more";
    return line;
  }

  static std::string short_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
  }

  Due due_;
  std::int64_t first_step_ = 0;
  double shown_at_ = -1;
};

}  // namespace

std::unique_ptr<Callback> make_status_line(Due due) {
  return std::make_unique<StatusLine>(std::move(due));
}

}  // namespace ddptrain
