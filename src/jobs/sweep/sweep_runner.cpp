#include "jobs/sweep/sweep_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/output/log.h"
#include "base/output/table_text.h"
#include "base/text.h"
#include "cli/verb.h"
#include "jobs/series.h"
#include "jobs/sweep/trial_run.h"
#include "launch/run_process.h"
#include "launch/signal_relay.h"

namespace ddptrain {
namespace {

bool is_success(int code) {
  return code == static_cast<int>(Exit::done) || code == static_cast<int>(Exit::expect);
}

/// A run of a trial while its process lives. `slot` is its part of the machine.
struct Child {
  RunKey key;
  int slot = 0;
  std::unique_ptr<RunProcess> run;
};

TrialRun trial_run(const SweepPlan& plan, const SweepWords& words, const SweepRecord& record,
                   const RunKey& key) {
  TrialRun run{record.run_folder(key, plan.spec.seeds), words.files, words.overrides, {}, {}};
  const auto& trial = plan.trials.at(static_cast<std::size_t>(key.job.trial));
  run.overrides.insert(run.overrides.end(), trial.overrides.begin(), trial.overrides.end());
  if (plan.spec.seeds > 1) run.overrides.push_back(fmt::format("seed={}", plan.seed + key.seed));
  if (key.job.rung + 1 < std::ssize(plan.halving.lengths)) {
    run.pause = plan.spec.halving.min;
    run.pause->count *= std::pow(plan.spec.halving.factor, key.job.rung);
  }
  return run;
}

class SweepRunner {
 public:
  SweepRunner(const SweepPlan& plan, const SweepWords& words, SweepRecord& record,
              const Arguments& arguments)
      : plan_(plan), words_(words), record_(record), arguments_(arguments) {}
  ~SweepRunner() { send_all(SIGKILL); }

  int run() {
    while (true) {
      if (!is_ending()) start_missing();
      if (is_ending()) ask_to_leave();
      if (children_.empty()) break;
      show_status();
      obey(signals_.next(0.1, [this](int signal) { send_all(signal); }));
      collect();
    }
    log::status("");
    if (asked_ != 0) return 128 + asked_;
    int code = 0;
    for (const auto& value : record_.values()) code = worse(code, value.code);
    return worse(code, failed_);
  }

 private:
  bool is_ending() const {
    return asked_ != 0 || (failed_ != 0 && plan_.spec.on_failure == OnTrialFailure::stop);
  }

  /// Runs that ended without us, of an array job or before we were killed, are taken as they are.
  void start_missing() {
    for (bool found = true; found;) {
      found = false;
      for (const auto& job : wanted()) {
        const auto key = next_run(job);
        if (!key || is_running(*key)) continue;
        if ((found = take_ended(*key))) break;
        start(*key);
        if (is_ending()) return;
      }
    }
  }

  std::vector<TrialJob> wanted() const {
    return jobs_under_way(
        plan_.halving, [&](const TrialJob& job) { return value_or_failure(plan_, record_, job); });
  }

  /// The first seed of a job that is not known.
  std::optional<RunKey> next_run(const TrialJob& job) const {
    for (std::int64_t seed = 0; seed < plan_.spec.seeds; ++seed)
      if (!record_.find({job, seed})) return RunKey{job, seed};
    return {};
  }

  bool is_running(const RunKey& key) const {
    return std::any_of(children_.begin(), children_.end(),
                       [&](const Child& child) { return child.key == key; });
  }

  std::string folder_of(const RunKey& key) const {
    return record_.run_folder(key, plan_.spec.seeds);
  }

  bool take_ended(const RunKey& key) {
    auto value = ended_value(folder_of(key), plan_.watched);
    if (value) note(key, *std::move(value));
    return value.has_value();
  }

  int free_slot() const {
    for (int slot = 0;; ++slot)
      if (std::none_of(children_.begin(), children_.end(),
                       [&](const Child& child) { return child.slot == slot; }))
        return slot;
  }

  void start(const RunKey& key) {
    const int slot = free_slot();
    auto trial = trial_run(plan_, words_, record_, key);
    trial.part = {slot, plan_.halving.workers};
    const auto train = [&] { return train_trial(trial, arguments_); };
    children_.push_back(
        {key, slot,
         std::make_unique<RunProcess>(train, record_.output_file(key, plan_.spec.seeds),
                                      signals_.of_children())});
  }

  void collect() {
    for (std::size_t i = children_.size(); i-- > 0;) {
      if (!children_[i].run->child().reap()) continue;
      const auto child = std::move(children_[i]);
      children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
      end_of(child);
    }
  }

  void end_of(const Child& child) {
    const int code = child.run->child().code();
    if (is_ending() && !is_result(code)) return;  // the sweep continues
    auto value = value_of(folder_of(child.key), code, plan_.watched);
    if (!is_success(code)) value.error = child.run->failure().message;
    note(child.key, std::move(value));
  }

  void note(const RunKey& key, RunValue value) {
    value.key = key;
    if (value.error.empty() && !is_success(value.code))
      value.error = why_ended(value.code, record_.output_file(key, plan_.spec.seeds));
    if (value.error.empty() && std::isnan(value.value)) {
      value.code = static_cast<int>(Exit::non_finite);
      value.error = "its last evaluation has no number for " + plan_.watched.name;
    }
    if (!value.error.empty()) failed_ = worse(failed_, value.code);
    log::info(line_of(value));
    record_.add(std::move(value));
    write_tables(plan_, record_);
  }

  std::string line_of(const RunValue& value) const {
    const auto& trial = plan_.trials.at(static_cast<std::size_t>(value.key.job.trial));
    auto text = fmt::format("trial {} of {}", value.key.job.trial + 1, plan_.trials.size());
    if (plan_.spec.seeds > 1) text += fmt::format(", seed {}", plan_.seed + value.key.seed);
    text += fmt::format(" ({}): ", to_text(trial));
    if (!value.error.empty()) return text + value.error;
    return fmt::format("{}{} {} after {}", text, plan_.watched.name, short_number(value.value),
                       plural(value.steps, "step"));
  }

  void show_status() const {
    const auto known = static_cast<std::int64_t>(record_.values().size());
    log::status(fmt::format("{} ended, {} under way", plural(known, "run"), children_.size()));
  }

  void send_all(int signal) const {
    for (const auto& child : children_) child.run->child().send(signal);
  }

  void obey(const Asked& asked) {
    if (asked.what == Asked::save) send_all(SIGUSR1);
    if (asked.what == Asked::end_now) send_all(SIGKILL);
    if (asked.what == Asked::stop && asked_ == 0)
      log::info("asked to stop: the trials under way save and leave");
    if (asked.what == Asked::end_now || (asked.what == Asked::stop && asked_ == 0))
      asked_ = asked.signal;
  }

  void ask_to_leave() {
    if (!std::exchange(asked_to_leave_, true)) send_all(SIGTERM);
  }

  const SweepPlan& plan_;
  const SweepWords& words_;
  SweepRecord& record_;
  const Arguments& arguments_;
  SignalRelay signals_{SIGTSTP};
  std::vector<Child> children_;
  int asked_ = 0;  // the signal that ends the sweep
  int failed_ = 0;
  bool asked_to_leave_ = false;
};

}  // namespace

int run_sweep(const SweepPlan& plan, const SweepWords& words, SweepRecord& record,
              const Arguments& arguments) {
  return SweepRunner(plan, words, record, arguments).run();
}

int run_alone(const SweepPlan& plan, const RunKey& key, const SweepWords& words,
              const SweepRecord& record, const Arguments& arguments) {
  const auto run = trial_run(plan, words, record, key);
  if (const auto ended = ended_value(run.folder, plan.watched)) {
    log::info("done in {}", run.folder);
    return ended->code;
  }
  return train_trial(run, arguments);
}

}  // namespace ddptrain
