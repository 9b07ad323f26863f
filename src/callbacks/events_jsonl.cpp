#include <atomic>

#include "base/clock.h"
#include "base/output/log.h"
#include "callbacks/append_file.h"
#include "callbacks/writers.h"
#include "runs/events_jsonl.h"

namespace ddptrain {
namespace {

class EventsJsonl final : public Callback {
 public:
  EventsJsonl(const std::string& path, Due due)
      : file_(path), due_(std::move(due)), warnings_([this](const std::string& text) {
          RunEvent event{"warning", utc_now(), step_};
          event.text = text;
          write(event);
        }) {}

  void at(Moment moment, const RunView& run, RunControl& control) override {
    step_ = run.step;
    if (moment == Moment::evaluating || moment == Moment::saving) return;
    if (moment == Moment::step_end && !due_(run)) return;
    RunEvent event{kind_of(moment, run), utc_now(), run.step, run.epoch};
    if (moment == Moment::run_begin) event.total_steps = run.total_steps;
    if (moment == Moment::step_end) add_progress(event, run);
    if (moment == Moment::evaluated) event.values = run.metrics;
    if (moment == Moment::saved) event.folder = run.checkpoint;
    if (moment == Moment::concluded || moment == Moment::tested) {
      event.weights = run.weights.name;
      event.weights_step = run.weights.step;
    }
    // Its numbers are those of an earlier step, or are known: apart from what belongs to this one.
    if (moment == Moment::concluded) event.metrics = run.metrics;
    if (moment == Moment::tested) event.values = run.metrics;
    if (brings_tables(moment)) event.tables = run.tables;
    if (moment == Moment::run_end) {
      event.stopped = control.stop;
      event.phase_seconds = run.phase_seconds;
    }
    write(event);
    if (moment == Moment::evaluated && !run.texts.empty()) write_texts(run);
  }

 private:
  void write_texts(const RunView& run) {
    RunEvent event{"texts", utc_now(), run.step, run.epoch};
    event.texts = run.texts;
    write(event);
  }

  void write(const RunEvent& event) { file_.write(to_line(event)); }

  static const char* kind_of(Moment moment, const RunView& run) {
    switch (moment) {
      case Moment::run_begin:
        return run.step == 0 ? "begin" : "resume";
      case Moment::step_end:
        return "step";
      case Moment::evaluated:
        return "evaluation";
      case Moment::concluded:
        return "result";
      case Moment::tested:
        return "test";
      case Moment::saved:
        return "checkpoint";
      default:
        return "end";
    }
  }

  static bool brings_tables(Moment moment) {
    return moment == Moment::evaluated || moment == Moment::concluded || moment == Moment::tested;
  }

  static void add_progress(RunEvent& event, const RunView& run) {
    event.samples = run.samples;
    event.values = {{"train/loss", run.train_loss},
                    {"train/lr", run.lr},
                    {"train/gradient_norm", run.gradient_norm},
                    {"seconds", run.seconds},
                    {"samples_per_second", run.samples_per_second}};
    if (run.momentum) event.values.emplace_back("train/momentum", *run.momentum);
    event.values.insert(event.values.end(), run.group_norms.begin(), run.group_norms.end());
    if (run.weight_decay) event.values.emplace_back("train/weight_decay", *run.weight_decay);
    if (run.memory.total > 0)
      event.device_memory = LoggedMemory{run.memory.peak_reserved, run.memory.total};
  }

  AppendFile file_;
  Due due_;
  std::atomic<std::int64_t> step_ = 0;  // the last that was written; warnings come from any thread
  log::WarningListener warnings_;
};

}  // namespace

std::unique_ptr<Callback> make_events_jsonl(const std::string& path, Due due) {
  return std::make_unique<EventsJsonl>(path, std::move(due));
}

}  // namespace ddptrain
