//   host     begin k   read k-1   finish k   begin k+1   read k   finish k+1
//   device   ... k-1 ...|.......... k ..........|........ k+1 ......
//
// The device decides whether step k counts and moves the weights or not; the host learns it from
// the step's numbers, in read(), while the device is at work on the next one.
#include "train/step/device_step.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/error.h"
#include "distributed/async_host_copy.h"
#include "distributed/control/failure_board.h"
#include "distributed/engine.h"
#include "distributed/lost_peer.h"
#include "distributed/phases.h"
#include "distributed/window_numbers.h"
#include "distributed/world.h"
#include "launch/failure.h"
#include "optim/ema.h"
#include "optim/optimizer.h"
#include "train/graph/graph_work.h"
#include "train/run_state.h"
#include "train/stages.h"
#include "train/step/kept_buffers.h"
#include "train/step/micro_batches.h"
#include "train/step/shown_gradients.h"
#include "train/step/swa.h"
#include "train/training.h"
#include "train/update/decision.h"
#include "train/update/group_norms.h"
#include "train/update/scale_and_clip.h"

namespace ddptrain {
namespace {

constexpr std::chrono::milliseconds kLook{100};  // between two looks at the board

class DeviceStepper final : public Stepper {
 public:
  DeviceStepper(Training& training, const RunState& state, GradientHook hook)
      : t_(training),
        state_(state),
        hook_(std::move(hook)),
        decision_(training.engine->model().named_parameters().front().tensor.device(),
                  state.loss_scale),
        work_(make_step_work(training, decision_)) {}

  void begin(const StepPlace& place, std::int64_t micro_steps) override {
    begun_ = std::make_unique<Step>(Step{.place = place});
    auto& step = *begun_;
    step.inputs = {place.step, nominal_of(t_, state_), rates_of(t_, state_, place.step),
                   log_is_due(t_, place.step), !finished_ || finished_->is_whole};
    if (may_lose_data_midway(*t_.world, micro_steps)) step.buffers = &keep_buffers();
    t_.engine->carried().keep();
    auto micro = first_micro_step(t_, state_, place);
    micro.loss_gradient = decision_.loss_gradient(micro.nominal);
    work_->begin(step.inputs, micro_steps);
    for (std::int64_t i = 0; i < micro_steps; ++i) {
      micro.last = i + 1 == micro_steps;
      work_->pass(next_batch(t_, place, i, micro), micro);
    }
  }

  void finish(bool asked) override {
    DDP_CHECK(begun_ && !finished_, "a step is finished after it was begun and the last was read");
    auto& step = *begun_;
    step.inputs.rates = rates_of(t_, state_, step.place.step);
    step.note_rates(*t_.optimizer);
    const auto outcome = work_->decide(step.inputs, asked);
    const PhaseScope phase(Phase::optimizer);
    if (!outcome.is_whole) {
      show_gradients(t_, hook_, step.place.step + 1);
      work_->update(step.inputs, outcome);
    }
    t_.engine->parameters_changed();
    step.expect(outcome);
    finished_ = std::move(begun_);
  }

  void abandon() override {
    t_.engine->sum(false);
    t_.engine->carried().put_back();
    begun_.reset();
  }

  StepReport read() override {
    const auto step = std::exchange(finished_, nullptr);
    DDP_CHECK(step, "there is no step to read");
    await(*step);
    auto& report = step->report;
    const auto& all = step->numbers->wait();
    const auto numbers = all.slice(0, 0, step->count);
    report.totals = t_.engine->totals(numbers);
    if (!report.changed()) note_refusal(report.totals);
    if (!report.changed()) t_.engine->carried().put_back();
    if (report.totals.data_lost && step->buffers) step->buffers->put_back();
    if (!report.changed()) return report;
    if (step->has_norm) report.gradient_norm = numbers.const_data_ptr<double>()[kNorm];
    if (group_norms_are_due(t_, step->place.step))
      report.group_norms = named_norms(all.slice(0, step->count).reshape({2, -1}).contiguous());
    update_average(*step);
    return report;
  }

  bool is_under_way() const override { return finished_ != nullptr; }
  /// A step of streams begins with the states that the one before has left, if it was made.
  bool is_late() const override { return !has_streams(t_); }

 private:
  struct Step {
    StepPlace place;
    StepInputs inputs{};
    const KeptBuffers* buffers = nullptr;    // as they were, of the rank that saves
    std::optional<AsyncHostCopy> numbers{};  // StepOutcome::numbers
    std::int64_t count = 0;                  // StepOutcome::count
    bool has_norm = false;
    bool is_whole = false;
    StepReport report{};

    void note_rates(const Optimizer& optimizer) {
      report.lr = inputs.rates.lr;
      report.momentum = inputs.rates.momentum ? inputs.rates.momentum : optimizer.momentum();
      report.weight_decay = inputs.rates.weight_decay;
    }
    void expect(const StepOutcome& outcome) {
      numbers.emplace(outcome.numbers);
      count = outcome.count;
      has_norm = outcome.has_norm && (inputs.norm_is_wanted || outcome.clips);
      is_whole = outcome.is_whole;
    }
  };

  /// The copies of the step before are needed until it is read.
  const KeptBuffers& keep_buffers() {
    std::swap(kept_, kept_before_);
    if (kept_)
      kept_->keep();
    else
      kept_ = std::make_unique<KeptBuffers>(t_.engine->model());
    return *kept_;
  }

  void await(const Step& step) const {
    const auto limit = t_.world->step_limit;
    if (!limit) return;
    const auto& board = t_.world->board;
    const CountedWait counted(board ? board->waits() : nullptr);
    const auto end = std::chrono::steady_clock::now() + *limit;
    while (std::chrono::steady_clock::now() < end) {
      if (step.numbers->arrives_within(kLook)) return;
      if (board && board->peer_has_failed()) throw PeerError(place_of(step) + kPeerEnded);
    }
    throw PeerError(place_of(step) + "its numbers did not come within " + in_words(*limit) +
                    ": another rank hangs, or 'parallel.timeout.step' is too short");
  }

  std::string place_of(const Step& step) const {
    return fmt::format("rank {}, step {}: ", t_.world->rank, step.place.step + 1);
  }

  /// The host has counted the step, and one that runs ahead of it, which is refused likewise where
  /// this one ends the run.
  void note_refusal(const StepTotals& totals) {
    t_.optimizer->was_refused();
    const bool next_is_given = begun_ && work_->runs_ahead();
    if (next_is_given && !totals.finite && ends_unless_finite(t_, decision_))
      t_.optimizer->was_refused();
  }

  void update_average(const Step& step) {
    if (!t_.ema || !average_is_due(t_, step.place.step + 1)) return;
    if (step.is_whole)
      t_.ema->was_repeated();
    else
      t_.ema->update();
  }

  Training& t_;
  const RunState& state_;
  const GradientHook hook_;
  Decision decision_;
  std::unique_ptr<StepWork> work_;
  std::unique_ptr<Step> begun_, finished_;
  std::unique_ptr<KeptBuffers> kept_, kept_before_;  // of this step and the one before
};

}  // namespace

std::unique_ptr<Stepper> make_device_stepper(Training& training, const RunState& state,
                                             Stepper::GradientHook hook) {
  return std::make_unique<DeviceStepper>(training, state, std::move(hook));
}

}  // namespace ddptrain
