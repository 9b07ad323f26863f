#include <atomic>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/output/log.h"
#include "callbacks/append_file.h"
#include "callbacks/writers.h"

namespace ddptrain {
namespace {

using Json = nlohmann::ordered_json;

class EventsJsonl final : public Callback {
 public:
  EventsJsonl(const std::string& path, Due due)
      : file_(path), due_(std::move(due)), warnings_([this](const std::string& text) {
          write("warning", step_, {{"text", text}});
        }) {}

  void at(Moment moment, const RunView& run, RunControl& control) override {
    step_ = run.step;
    switch (moment) {
      case Moment::run_begin:
        write(run, run.step == 0 ? "begin" : "resume", {{"total_steps", run.total_steps}});
        break;
      case Moment::step_end:
        if (due_(run)) write(run, "step", progress(run));
        break;
      case Moment::evaluated:
        write(run, "evaluation", metrics(run));
        break;
      case Moment::concluded:
        write(run, "result", concluded(run));
        break;
      case Moment::tested:
        write(run, "test", tested(run));
        break;
      case Moment::evaluating:
      case Moment::saving:
        break;
      case Moment::saved:
        write(run, "checkpoint", {{"folder", run.checkpoint}});
        break;
      case Moment::run_end:
        write(run, "end", ending(run, control));
        break;
    }
  }

 private:
  void write(const RunView& run, const char* event, const Json& more) {
    Json position{{"epoch", run.epoch}};
    position.update(more);
    write(event, run.step, position);
  }

  void write(const char* event, std::int64_t step, const Json& more) {
    Json line{{"event", event}, {"time", utc_now()}, {"step", step}};
    line.update(more);
    // NaN becomes null, bytes that are no UTF-8 (file names) a replacement character.
    file_.write(line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  static Json progress(const RunView& run) {
    Json json{{"samples", run.samples}, {"train/loss", run.train_loss},
              {"train/lr", run.lr},     {"train/gradient_norm", run.gradient_norm},
              {"seconds", run.seconds}, {"samples_per_second", run.samples_per_second}};
    if (run.momentum) json["train/momentum"] = *run.momentum;
    for (const auto& [name, value] : run.group_norms) json[name] = value;
    if (run.weight_decay) json["train/weight_decay"] = *run.weight_decay;
    if (run.memory.total > 0)
      json["device_memory"] = {{"peak_reserved", run.memory.peak_reserved},
                               {"total", run.memory.total}};
    return json;
  }

  static Json table_json(const NamedTable& table) {
    Json cells = Json::array();
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const auto first =
          table.cells.begin() + static_cast<std::ptrdiff_t>(row * table.columns.size());
      cells.push_back(
          std::vector<double>(first, first + static_cast<std::ptrdiff_t>(table.columns.size())));
    }
    return {{"name", table.name + "." + table.file},
            {"rows", table.rows},
            {"columns", table.columns},
            {"cells", cells}};
  }

  static Json metrics(const RunView& run) {
    Json json = Json::object();
    for (const auto& [name, value] : run.metrics) json[name] = value;
    for (const auto& table : run.tables) json["tables"].push_back(table_json(table));
    return json;
  }

  static Json weights(const RunView& run) {
    return {{"weights", run.weights.name}, {"weights_step", run.weights.step}};
  }

  /// Its numbers are those of an earlier step, or are known: apart from what belongs to this one.
  static Json concluded(const RunView& run) {
    auto json = weights(run);
    auto& values = json["metrics"] = Json::object();
    for (const auto& [name, value] : run.metrics) values[name] = value;
    for (const auto& table : run.tables) json["tables"].push_back(table_json(table));
    return json;
  }

  static Json tested(const RunView& run) {
    auto json = weights(run);
    json.update(metrics(run));
    return json;
  }

  static Json ending(const RunView& run, const RunControl& control) {
    Json json = Json::object();
    if (control.stop) json["stopped"] = *control.stop;
    for (const auto& [phase, seconds] : run.phase_seconds) json["phase_seconds"][phase] = seconds;
    return json;
  }

  AppendFile file_;
  Due due_;
  std::atomic<std::int64_t> step_ = 0;  // the last that was told of; warnings come from any thread
  log::WarningListener warnings_;
};

}  // namespace

std::unique_ptr<Callback> make_events_jsonl(const std::string& path, Due due) {
  return std::make_unique<EventsJsonl>(path, std::move(due));
}

}  // namespace ddptrain
