#include "train/step/step.h"

#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/output/log.h"
#include "data/files/mapping_guard.h"
#include "data/loader/loader.h"
#include "data/loader/tolerant.h"
#include "data/mix/mixing.h"
#include "data/sampler.h"
#include "distributed/async_host_copy.h"
#include "distributed/phases.h"
#include "distributed/torch_compat.h"
#include "distributed/window_numbers.h"
#include "launch/failure.h"
#include "optim/clip.h"
#include "optim/ema.h"
#include "optim/scaling.h"
#include "train/run_state.h"
#include "train/stages.h"
#include "train/step/decision.h"
#include "train/step/group_norms.h"
#include "train/step/kept_buffers.h"
#include "train/step/step_graph.h"
#include "train/step/swa.h"
#include "train/training.h"

namespace ddptrain {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double current_scale(const RunState& state) {
  return state.loss_scale ? state.loss_scale->scale() : 1.0;
}

// Under -v each rank's log says what it trains on.
void log_samples(const Batch& batch, std::int64_t step, std::int64_t micro) {
  if (!log::is_verbose()) return;
  std::string line = "samples " + std::to_string(step + 1) + "." + std::to_string(micro + 1) + ":";
  for (const auto index : batch.indices) line += " " + std::to_string(index);
  log::debug(line);
}

/// What a rank that cannot load its rows brings to the collectives of a step.
Batch without_rows(const Training& t, std::int64_t epoch) {
  auto batch = t.data->allocate_train(epoch, 0);
  batch.rows = 0;
  if (t.mix) mix_rows(*t.mix, {seed_of_data(t.recipe), epoch, t.length.global}, {}, {}, batch);
  return batch;
}

/// The next micro-batch, or from the first on that a cut file keeps from being loaded, empty ones.
Batch next_batch(const Training& t, std::int64_t epoch, bool& data_lost) {
  const PhaseScope phase(Phase::loader);
  try {
    if (!data_lost) return t.loader->next();
  } catch (const Error&) {
    if (lost_mapped_file().empty()) throw;
    data_lost = true;
  }
  return without_rows(t, epoch);
}

std::vector<at::Tensor> gradients(const Training& t) {
  std::vector<at::Tensor> defined;
  for (const auto& [name, parameter] : t.engine->model().named_parameters())
    if (parameter.grad().defined()) defined.push_back(parameter.grad());
  return defined;
}

// On other steps nobody reads the norm, which is a pass over the gradients.
bool log_is_due(const Training& t, std::int64_t step) {
  const Period period(t.recipe.log.every, t.length);
  return period.timed() || period.due(step + 1);
}

bool group_norms_are_due(const Training& t, std::int64_t step) {
  return t.recipe.log.group_norms && log_is_due(t, step);
}

// One pass over the gradients: removal of the loss scale, the weight ratio and clipping, skipped
// when it is 1.
double scale_and_clip(const Training& t, std::int64_t step, double factor) {
  auto all = gradients(t);
  const bool logs = log_is_due(t, step) && !all.empty();
  const double norm = logs ? std::abs(factor) * gradient_norm(all).item<double>() : kUnknown;
  if (t.clip) {
    const double clipped = (*t.clip)(all, factor);
    return std::isnan(clipped) ? norm : clipped;
  }
  if (factor != 1.0) at::_foreach_mul_(all, factor);
  return norm;
}

// The same by numbers of the device; the norm is undefined where nobody reads it.
struct DeviceNorm {
  at::Tensor value;
  bool clips = false;
};

DeviceNorm scale_and_clip(const Training& t, bool norm_is_wanted, const at::Tensor& factor,
                          at::Tensor& overflow) {
  const auto all = gradients(t);
  at::Tensor norm;
  if (norm_is_wanted && !all.empty()) norm = gradient_norm(all).mul(factor.abs());
  if (!t.clip) {
    scale_gradients(all, factor, overflow);
    return {norm};
  }
  const auto clipped = (*t.clip)(all, factor, overflow);
  return clipped.defined() ? DeviceNorm{clipped, true} : DeviceNorm{norm};
}

void count_bad(const Training& t, Position& at, std::int64_t left_out) {
  if (left_out == 0) return;
  at.bad_in_epoch += left_out;
  require_few_bad(t.recipe.policy, at.bad_in_epoch, std::ssize(t.sampler->order(at.epoch)),
                  "training samples of epoch " + std::to_string(at.epoch + 1));
}

bool is_made(const StepTotals& totals) {
  return totals.finite && totals.weight > 0 && !totals.data_lost;
}

void refuse_or_skip(const PolicySpec& policy, RunState& state, const StepTotals& totals) {
  ++state.position.skipped_steps;
  if (state.loss_scale) return;  // a smaller scale is tried at the next step
  const auto what = std::string(totals.loss_finite ? "a gradient" : "the loss") +
                    " is not finite at step " + std::to_string(state.position.step + 1);
  if (policy.on_non_finite == OnNonFinite::stop)
    throw Error(
        Exit::non_finite,
        what + " (sum " + std::to_string(totals.loss_sum) +
            "); a smaller optimizer.lr or train.clip may help; 'policy.on_non_finite: skip' "
            "leaves such steps out");
  log::warning(what + "; the step is left out");
}

}  // namespace

struct Stepper::Step {
  StepPlace at;
  double nominal = 1;
  double scale = 1;  // of the loss, where the host keeps it
  Rates rates{};
  const KeptBuffers* buffers = nullptr;    // as they were, of the rank that saves
  std::optional<AsyncHostCopy> numbers{};  // of the device
  bool has_norm = false;                   // they have that of the gradients
  std::int64_t count = 0;                  // of them; those of group_norms() follow
  bool whole = false;                      // one graph has made it
  StepReport report{};
};

Stepper::Stepper(const Training& training, RunState& state, GradientHook hook)
    : t_(training), state_(state), hook_(std::move(hook)) {
  const auto device = t_.engine->model().named_parameters().front().tensor.device();
  if (device.is_cpu()) return;
  decision_ = std::make_unique<Decision>(device, state.loss_scale);
  graph_ = make_step_graph(t_);
}
Stepper::~Stepper() = default;

bool Stepper::is_under_way() const { return finished_ != nullptr; }
bool Stepper::is_late() const { return decision_ != nullptr; }

void Stepper::begin(const StepPlace& at, std::int64_t micro_steps) {
  begun_ = std::make_unique<Step>(Step{.at = at});
  auto& step = *begun_;
  step.nominal = state_.nominal > 0 ? state_.nominal : static_cast<double>(t_.length.global);
  step.scale = current_scale(state_);
  // Before the only micro-step of a single rank nothing has moved them where data are lost.
  if (t_.world->rank == 0 && (t_.world->size > 1 || micro_steps > 1))
    step.buffers = &keep_buffers();
  gather(step, micro_steps);
}

/// The copies of the step before are needed until it is read.
const KeptBuffers& Stepper::keep_buffers() {
  std::swap(kept_, kept_before_);
  if (kept_)
    kept_->keep();
  else
    kept_ = std::make_unique<KeptBuffers>(t_.engine->model());
  return *kept_;
}

/// On several ranks a step of another one may say that nothing may move.
WholeStep Stepper::whole(Step& step) {
  step.rates = rates_of(t_, state_, step.at.step);
  const bool averages = !t_.ema || t_.ema->can_be_captured();
  if (t_.world->size > 1 || !averages || !step.rates.move_the_rate_alone()) return {};
  return {t_.optimizer->captured_kind(), !finished_ || finished_->whole,
          [this, &step] { return make_whole(step); },
          [this, &step] { t_.optimizer->bring(step.rates); }};
}

// Of the device alone: a graph is captured from it.
StepOutcome Stepper::make_whole(const Step& step) {
  const auto outcome = decide(step, /*asked=*/false, /*whole=*/true);
  t_.optimizer->capture(outcome.refused);
  if (t_.ema) t_.ema->capture(outcome.refused);
  return outcome;
}

void Stepper::gather(Step& step, std::int64_t micro_steps) {
  MicroStep at;
  at.seed = static_cast<std::uint64_t>(t_.recipe.seed);
  at.step = step.at.step;
  at.nominal = step.nominal;
  at.loss_scale = step.scale;
  at.scaled = state_.loss_scale.has_value();
  if (decision_) at.loss_gradient = decision_->loss_gradient(step.nominal);
  if (graph_ && micro_steps == 1) {
    const auto batch = next_batch(t_, step.at.epoch, at.data_lost);
    log_samples(batch, at.step, 0);
    return graph_->pass(batch, at, whole(step));
  }
  if (graph_) graph_->note_eager_step();
  t_.engine->begin();
  for (std::int64_t micro = 0; micro < micro_steps; ++micro) {
    at.last = micro + 1 == micro_steps;
    const auto batch = next_batch(t_, step.at.epoch, at.data_lost);
    log_samples(batch, at.step, micro);
    t_.engine->accumulate(batch, *t_.loss, at);
  }
}

void Stepper::finish(bool asked) {
  DDP_CHECK(begun_ && !finished_, "a step is finished after it was begun and the last was read");
  auto& step = *begun_;
  step.rates = rates_of(t_, state_, step.at.step);
  step.report.lr = step.rates.lr;
  step.report.momentum = step.rates.momentum ? step.rates.momentum : t_.optimizer->momentum();
  step.report.weight_decay = step.rates.weight_decay;
  if (decision_) {
    update_on_device(step, asked);
  } else {
    const auto totals = t_.engine->totals(t_.engine->sum(asked));
    account(step, totals);
    if (step.report.changed) update_on_host(step, totals.weight);
  }
  finished_ = std::move(begun_);
}

void Stepper::abandon() {
  t_.engine->sum(false);
  begun_.reset();
}

void Stepper::await(const Step& step) const {
  const auto limit = t_.world->step_limit;
  if (!limit) return;
  const auto& board = t_.world->board;
  const CountedWait counted(board ? board->waits() : nullptr);
  if (step.numbers->arrives_within(*limit)) return;
  throw PeerError("rank " + std::to_string(t_.world->rank) + ", step " +
                  std::to_string(step.at.step + 1) + ": its numbers did not come within " +
                  in_words(*limit) +
                  ": another rank hangs, or 'parallel.timeout.step' is too short");
}

StepReport Stepper::read() {
  const auto step = std::exchange(finished_, nullptr);
  DDP_CHECK(step, "there is no step to read");
  auto& report = step->report;
  if (decision_) {
    await(*step);
    const auto& all = step->numbers->wait();
    const auto numbers = all.slice(0, 0, step->count);
    const auto totals = t_.engine->totals(numbers);
    if (!is_made(totals)) note_refusal(totals.finite);
    account(*step, totals);
    if (report.changed && step->has_norm)
      report.gradient_norm = numbers.const_data_ptr<double>()[kNorm];
    if (report.changed && group_norms_are_due(t_, step->at.step))
      report.group_norms = named_norms(all.slice(0, step->count).reshape({2, -1}).contiguous());
  }
  if (report.changed && t_.ema && average_is_due(t_, step->at.step + 1)) {
    if (step->whole)
      t_.ema->was_repeated();
    else
      t_.ema->update();
  }
  return report;
}

bool Stepper::ends_unless_finite() const {
  return t_.recipe.policy.on_non_finite == OnNonFinite::stop && !state_.loss_scale;
}

void Stepper::note_refusal(bool finite) {
  t_.optimizer->was_refused();
  const bool next_is_given = graph_ && begun_ && graph_->has_made_whole();
  if (next_is_given && !finite && ends_unless_finite()) t_.optimizer->was_refused();  // for good
}

void Stepper::account(Step& step, const StepTotals& totals) {
  auto& report = step.report;
  report.gradient_norm = kUnknown;
  report.asked = totals.asked;
  report.data_lost = totals.data_lost;
  report.changed = is_made(totals);
  if (totals.data_lost && step.buffers) step.buffers->put_back();
  if (totals.data_lost) return;
  count_bad(t_, state_.position, totals.left_out);
  report.loss = totals.weight > 0 ? totals.loss_sum / totals.weight : kUnknown;
  if (state_.loss_scale) state_.loss_scale->update(totals.finite);
  if (!totals.finite) {
    refuse_or_skip(t_.recipe.policy, state_, totals);
  } else if (totals.weight == 0) {
    ++state_.position.empty_steps;
    log::warning("step " + std::to_string(step.at.step + 1) +
                 " has no counted sample; nothing was changed");
  }
  if (report.changed && state_.nominal == 0) state_.nominal = totals.weight;
}

void Stepper::show_gradients(const Step& step) const {
  if (hook_) hook_(t_.engine->model().named_parameters(), step.at.step + 1);
}

void Stepper::update_on_host(Step& step, double weight) {
  const PhaseScope phase(Phase::optimizer);
  const double factor = step.nominal / (step.scale * weight);
  if (group_norms_are_due(t_, step.at.step)) {
    const auto norms = group_norms(*t_.optimizer);
    norms[0].mul_(std::abs(factor));
    step.report.group_norms = named_norms(norms);
  }
  step.report.gradient_norm = scale_and_clip(t_, step.at.step, factor);
  show_gradients(step);
  t_.optimizer->step(step.rates);
  t_.engine->parameters_changed();
}

void Stepper::update_on_device(Step& step, bool asked) {
  const auto work = [&] { return decide(step, asked, /*whole=*/false); };
  const bool logs = log_is_due(t_, step.at.step);
  const auto outcome = graph_ ? graph_->end(asked, logs, work) : work();
  step.whole = outcome.moved;
  step.has_norm = outcome.has_norm && (logs || outcome.clips);
  step.count = outcome.count;
  step.rates.refused = outcome.refused;
  const PhaseScope phase(Phase::optimizer);
  if (!step.whole) show_gradients(step);
  if (!step.whole) in_phase("the optimizer's step", [&] { t_.optimizer->step(step.rates); });
  t_.engine->parameters_changed();
  step.numbers.emplace(outcome.numbers);
}

// Work of the device alone, which a graph can repeat. `whole`: for every step alike, and for one
// that comes before the host has read the step before it.
StepOutcome Stepper::decide(const Step& step, bool asked, bool whole) {
  const auto numbers = t_.engine->sum(asked);
  auto overflow = at::zeros({1}, numbers.options().dtype(at::kFloat));
  const bool logs = whole || log_is_due(t_, step.at.step);
  const auto factor = decision_->factor(numbers, step.nominal);
  at::Tensor norms;
  if (logs && t_.recipe.log.group_norms) {
    norms = group_norms(*t_.optimizer);
    norms[0].mul_(factor.abs());
  }
  const auto [norm, clips] = scale_and_clip(t_, logs, factor, overflow);
  numbers.select(0, kOverflow).copy_(overflow.reshape({}));
  if (norm.defined()) numbers.select(0, kNorm).copy_(norm);
  auto refused = whole && ends_unless_finite() ? decision_->refused_for_good(numbers)
                                               : decision_->refused(numbers);
  decision_->update_scale(numbers);
  const auto all = norms.defined() ? at::cat({numbers, norms.flatten()}) : numbers;
  return {all, std::move(refused), norm.defined(), clips, /*moved=*/false, numbers.numel()};
}

StepReport make_step(const Training& training, RunState& state, std::int64_t micro_steps) {
  Stepper stepper(training, state);
  stepper.begin({state.position.step, state.position.epoch}, micro_steps);
  stepper.finish(false);
  return stepper.read();
}

}  // namespace ddptrain
