#include "train/loop/loop.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <tuple>
#include <utility>

#include "base/files/mapping_guard.h"
#include "base/output/log.h"
#include "checkpoint/checkpoint.h"
#include "distributed/engine.h"
#include "distributed/world.h"
#include "train/build/build.h"
#include "train/loop/call.h"
#include "train/loop/completion.h"
#include "train/loop/epoch.h"
#include "train/loop/final_scores.h"
#include "train/loop/save_plans.h"
#include "train/loop/state.h"
#include "train/loop/view.h"
#include "train/requests.h"
#include "train/stages.h"
#include "train/step/account.h"
#include "train/step/evaluate.h"
#include "train/step/generated_samples.h"
#include "train/step/step.h"
#include "train/step/swa.h"
#include "train/training.h"

namespace ddptrain {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Loop {
 public:
  Loop(Training& training, RunState& state, const Hooks& hooks, const Callbacks& observers)
      : t_(training),
        state_(state),
        hooks_(hooks),
        observers_(observers),
        seconds_(seconds_of(t_.recipe)),
        evaluate_every_(t_.recipe.eval.every, t_.length),
        save_every_(t_.recipe.checkpoint.every, t_.length),
        save_locally_every_(locally_every(t_, hooks_)),
        stepper_(make_stepper(t_, state_, hooks_.gradients)),
        writer_(t_.placement.on_cpu() ? CheckpointWriter::When::at_once
                                      : CheckpointWriter::When::in_background,
                saving_group(*t_.world, t_.placement.on_cpu())),
        saved_step_(state_.position.step) {}

  RunResult run() {
    tell(Moment::run_begin);
    if (state_.position.evaluation_due && !finished()) evaluate_and_save();  // was interrupted
    while (!finished() && !paused()) {
      step();
      if (stepper_->is_under_way()) continue;  // it is read during the next one
      if (!data_lost_) heed_requests();
      evaluate_and_save();
    }
    close();
    if (result_.reason != kPaused) score_result();
    view_.phase_seconds = seconds_by_phase(clock_.seconds(), t_.placement.on_cpu());
    tell(Moment::run_end);
    return result_;
  }

 private:
  bool finished() const {
    if (!result_.reason.empty() || state_.stop) return true;
    if (seconds_) return time_is_up_;
    return state_.position.step >= t_.length.total;
  }
  bool paused() const { return hooks_.pause_at > 0 && state_.position.step >= hooks_.pause_at; }

  // With what earlier attempts trained, where the run's length is a time.
  double seconds_trained() const { return seconds_before_ + seconds_since(began_); }

  /// Nothing was trained where a rank has lost the file of its samples.
  void step() {
    const auto at = next_position();
    if (!epoch_started_) epoch_ = start_epoch(t_, at);
    epoch_started_ = true;
    const auto index = static_cast<std::size_t>(at.step_in_epoch);
    beat("step");
    stage_ = enter_stage(t_, at.step, stage_);
    begin_step({at.step, at.epoch}, epoch_.micro_steps.at(index));
    if (stepper_->is_under_way()) read_step();
    if (data_lost_) return stepper_->abandon();
    stepper_->finish(ask());
    samples_under_way_ = epoch_.samples.at(index);
    if (at.step_in_epoch + 1 == t_.length.per_epoch) epoch_started_ = false;
    if (is_to_be_read(at.step + 1)) read_step();
  }

  // Reports the step under way before the next one fails, where no other rank holds it up.
  void begin_step(const StepPlace& at, std::int64_t micro_steps) {
    try {
      stepper_->begin(at, micro_steps);
    } catch (...) {
      if (is_alone() && stepper_->is_under_way()) read_step();
      throw;
    }
  }

  /// Of the step about to be made.
  Position next_position() const {
    auto at = state_.position;
    if (stepper_->is_under_way()) move_on(at, t_.length.per_epoch);
    return at;
  }

  void read_step() {
    const auto report = stepper_->read();
    asked_ = asked_ || report.totals.asked;
    data_lost_ = save_now_ = report.totals.data_lost;
    if (data_lost_) return;
    account(t_, state_, report, samples_under_way_);
    seen_here_ += samples_under_way_;
    view_.momentum = report.momentum;
    view_.weight_decay = report.weight_decay;
    view_.gradient_norm = report.gradient_norm;
    view_.group_norms = report.group_norms;
    tell(Moment::step_end);
  }

  /// Whether the step under way, the `made`-th, is read before the next one begins: where it has
  /// decided already, and where something depends on it or follows it. The same on all ranks.
  bool is_to_be_read(std::int64_t made) {
    if (!stepper_->is_late() || asked_ || state_.stop || state_.nominal == 0) return true;
    if ((!seconds_ && made >= t_.length.total) || begins_stage(t_, made)) return true;
    if (evaluate_every_.due(made) || save_every_.due(made) || steers(t_.callbacks)) return true;
    if (save_locally_every_ && save_locally_every_->due(made)) return true;
    return made == hooks_.pause_at || steers(observers_) || (is_alone() && has_requests());
  }

  bool stop_requested() const {
    return hooks_.stop_requested && hooks_.stop_requested().signal != 0;
  }

  bool is_alone() const { return t_.world->size == 1; }

  /// What this rank was asked since ranks last agreed.
  bool has_requests() {
    const bool first = t_.world->rank == 0;
    Requests now;
    if (hooks_.stop_requested) now.stop = hooks_.stop_requested();
    now.save = hooks_.save_requested && hooks_.save_requested();
    now.save = now.save || (first && save_every_.due_after(seconds_since(saved_at_)));
    now.save_local = first && save_locally_every_ &&
                     save_locally_every_->due_after(seconds_since(any_saved_at_));
    now.evaluate = first && evaluate_every_.due_after(seconds_since(evaluated_at_));
    now.time_up = first && seconds_ && seconds_trained() >= *seconds_;
    now.data_lost = !lost_mapped_file().empty();
    mine_.add(now);
    return mine_.any();
  }

  // A rank that was asked says so with the numbers of the step, which all ranks read alike.
  bool ask() { return !is_alone() && has_requests(); }

  // A request that one rank received (a signal, the clock of rank 0) reaches all ranks after the
  // same step; without one the ranks need not talk of it.
  void heed_requests() {
    if (is_alone() || asked_) return agree_on_requests();
    heed({});
  }

  void agree_on_requests() {
    has_requests();
    const auto all = agree(*t_.world->control, std::exchange(mine_, {}));
    asked_ = false;
    heed(all);
  }

  void heed(const Requests& all) {
    if (all.stop.signal != 0) {
      result_.reason = "interrupted";
      result_.signal = all.stop.signal;
    }
    data_lost_ = all.data_lost;
    save_now_ = all.save || all.stop.signal != 0 || all.data_lost;
    auto& at = state_.position;
    save_locally_now_ =
        all.save_local || (save_locally_every_ && save_locally_every_->due(at.step));
    at.evaluation_due = at.evaluation_due || all.evaluate || evaluate_every_.due(at.step);
    time_is_up_ = all.time_up;
  }

  // Data that are lost were in no step so far: batches with lost rows are never handed out.
  void evaluate_and_save() {
    evaluate_if_due();
    view_.metrics.clear();
    view_.tables.clear();
    view_.texts.clear();
    save_if_due();
    if (data_lost_) fail_without_data(*t_.world->control);
  }

  void evaluate_if_due() {
    // An interrupted run evaluates when it is resumed.
    if (!hooks_.evaluate || result_.signal != 0 || data_lost_) return;
    const bool last = finished();
    // By callbacks: an earlier attempt, which was to measure the average's statistics after that.
    const bool known = state_.position.evaluated == state_.position.step;
    const bool missing = last && (!known || average_statistics_are_missing(t_));
    if (!state_.position.evaluation_due && !missing) return;
    if (!score(last)) return agree_on_requests();
    if (!known) tell_callbacks(Moment::evaluated);
    // A callback that ends the run makes this its last evaluation, once it has been made.
    const bool ended = !last && finished() && average_statistics_are_missing(t_);
    if (ended && !score(true)) return agree_on_requests();
    tell_observers(Moment::evaluated);
    if (note_best(state_, view_, t_.recipe)) save_now_ = true;
    state_.position.evaluation_due = false;
  }

  /// False where all ranks left early, asked to stop or without data.
  bool score(bool last) {
    const auto asked = [this] { return stop_requested(); };
    const auto alive = [this] { beat("evaluation"); };
    alive();
    if (last && !update_average_statistics(t_, state_.position, asked, alive)) return false;
    auto found = evaluate_as("evaluation", Evaluated::validation);
    if (!found || !generate(asked, alive)) return false;
    state_.evaluation = found->values;
    keep_scores(result_, {"last evaluation", state_.position.step}, std::move(*found));
    evaluated_at_ = Clock::now();
    state_.position.evaluated = state_.position.step;
    if (saved_step_ == state_.position.step) {  // that checkpoint lacks this evaluation
      saved_step_ = -1;
      save_now_ = true;
    }
    view_.metrics = state_.evaluation;
    view_.tables = result_.scored.tables;
    view_.weights = result_.weights;
    return true;
  }

  /// False where all ranks left early.
  bool generate(const std::function<bool()>& asked, const std::function<void()>& alive) {
    if (!hooks_.samples) return true;
    auto texts = generate_samples(t_, *hooks_.samples, asked, alive);
    if (texts) view_.texts = std::move(*texts);
    return texts.has_value();
  }

  /// Nothing where all ranks left early.
  std::optional<Evaluation> evaluate_as(const char* phase, Evaluated which) {
    beat(phase);
    std::tie(view_.evaluation_batch, view_.evaluation_batches) =
        std::pair(0, evaluation_calls(t_, which));
    return evaluate_unless(
        t_, [this] { return stop_requested(); }, [=, this] { scored_batch(phase); }, which);
  }

  void scored_batch(const char* phase) {
    beat(phase);
    ++view_.evaluation_batch;
    tell(Moment::evaluating);
  }

  void save_if_due() {
    tell_saved(writer_.written());
    const auto step = state_.position.step;
    const bool shared = save_now_ || finished() || paused() || save_every_.due(step);
    if (!shared && !save_locally_now_) return;
    auto& saved_step = shared ? saved_step_ : saved_locally_step_;
    if (saved_step == step || hooks_.checkpoints.empty()) return;
    beat("checkpoint");
    tell_saved(writer_.wait());
    t_.engine->broadcast_buffers();
    saved_step = step;
    any_saved_at_ = Clock::now();
    if (shared) saved_at_ = any_saved_at_;
    if (seconds_) state_.position.seconds = seconds_trained();
    if (t_.world->rank == 0) tell(Moment::saving);
    saving_ = {view_.step, view_.epoch, !shared};
    writer_.write(capture(t_, state_),
                  shared ? shared_save(t_, state_, hooks_) : local_save(t_, hooks_));
    tell_saved(writer_.written());
  }

  // Of a checkpoint whose files are whole; later steps may have been made meanwhile.
  void tell_saved(std::optional<std::string> folder) {
    if (!folder || t_.world->rank != 0) return;
    if (saving_.locally) return log::info("saved {} (checkpoint.local)", *folder);
    update_view();
    const auto now = view_;
    view_.step = saving_.step;
    view_.epoch = saving_.epoch;
    view_.checkpoint = std::move(*folder);
    tell_observers(Moment::saved);
    view_ = now;
  }

  // A run that stops early still ends with an evaluation and a checkpoint; an interrupted one with
  // a checkpoint.
  void close() {
    evaluate_and_save();
    tell_saved(writer_.wait());
    if (state_.stop && result_.signal == 0) result_.reason = "stopped: " + state_.stop->reason;
    if (result_.reason.empty()) result_.reason = finished() ? "done" : kPaused;
  }

  void score_result() {
    if (!hooks_.evaluate || result_.signal != 0) return;
    const auto score = [this](Evaluated which, const char* phase) {
      auto found = evaluate_as(phase, which);
      if (!found) agree_on_requests();
      if (data_lost_) fail_without_data(*t_.world->control);
      return found;
    };
    const auto report = [this](Moment moment, const Evaluation& found) {
      view_.metrics = found.values;
      view_.tables = found.tables;
      view_.weights = result_.weights;
      tell_observers(moment);
    };
    conclude(result_, {t_, state_, hooks_.checkpoints}, score, report);
  }

  void tell(Moment moment) {
    tell_callbacks(moment);
    tell_observers(moment);
  }

  void tell_callbacks(Moment moment) {
    update_view();
    if (!is_for_observers(moment)) call(t_.callbacks, moment, view_, state_, t_.recipe);
  }

  void tell_observers(Moment moment) { call(observers_, moment, view_, state_, t_.recipe); }

  void update_view() {
    show_position(view_, state_.position, t_.length);
    view_.seconds = seconds_since(began_);
    view_.samples_per_second =
        view_.seconds > 0 ? static_cast<double>(seen_here_) / view_.seconds : 0;
    if (t_.world->rank == 0) view_.memory = memory_use(t_);
    if (seconds_) view_.seconds_left = std::max(0.0, *seconds_ - seconds_trained());
  }

  void beat(const char* phase) const {
    if (hooks_.beat) hooks_.beat(state_.position.step, phase);
  }

  Training& t_;
  RunState& state_;
  const Hooks& hooks_;
  const Callbacks& observers_;
  std::optional<double> seconds_;  // that the run lasts, where it is measured so
  double seconds_before_ = state_.position.seconds;
  Period evaluate_every_;
  Period save_every_;
  std::optional<Period> save_locally_every_;
  std::unique_ptr<Stepper> stepper_;
  RunResult result_;
  RunView view_;
  PhaseClock clock_;
  Clock::time_point began_ = Clock::now();
  Clock::time_point evaluated_at_ = began_;
  Clock::time_point saved_at_ = began_;
  Clock::time_point any_saved_at_ = began_;  // to the disks of nodes, too
  EpochSteps epoch_;                         // the one under way
  std::int64_t samples_under_way_ = 0;       // of the step that was not read
  std::int64_t seen_here_ = 0;
  CheckpointWriter writer_;
  SaveUnderWay saving_;
  std::int64_t saved_step_;               // a run begins where it was saved
  std::int64_t saved_locally_step_ = -1;  // on the disks of nodes
  std::int64_t stage_ = -1;               // that the engine was prepared for
  Requests mine_;                         // of this rank, not agreed on
  bool asked_ = false;                    // a rank has some
  bool epoch_started_ = false;            // that of the next step
  bool save_now_ = false;
  bool save_locally_now_ = false;
  bool time_is_up_ = seconds_ && seconds_before_ >= *seconds_;
  bool data_lost_ = false;
};

}  // namespace

RunResult train(Training& training, RunState& state, const Hooks& hooks,
                const Callbacks& observers) {
  return Loop(training, state, hooks, observers).run();
}

}  // namespace ddptrain
