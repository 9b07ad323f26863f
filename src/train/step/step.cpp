#include "train/step/step.h"

#include <ATen/ops/_foreach_mul.h>

#include <cmath>
#include <iterator>
#include <limits>

#include "base/error.h"
#include "base/output/log.h"
#include "data/files/mapping_guard.h"
#include "data/loader/loader.h"
#include "data/loader/tolerant.h"
#include "data/mix/mixing.h"
#include "data/sampler.h"
#include "distributed/engine.h"
#include "optim/clip.h"
#include "optim/ema.h"
#include "train/run_state.h"
#include "train/stages.h"
#include "train/step/kept_buffers.h"
#include "train/step/swa.h"
#include "train/training.h"

namespace ddptrain {
namespace {

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
  if (t.mix)
    mix_rows(*t.mix, {static_cast<std::uint64_t>(t.recipe.seed), epoch, t.length.global}, {}, {},
             batch);
  return batch;
}

/// The next micro-batch, or from the first on that a cut file keeps from being loaded, empty ones.
Batch next_batch(const Training& t, const Position& at, bool& data_lost) {
  try {
    if (!data_lost) return t.loader->next();
  } catch (const Error&) {
    if (lost_mapped_file().empty()) throw;
    data_lost = true;
  }
  return without_rows(t, at.epoch);
}

/// With the buffers of the rank that saves as they were, where data were lost. Before the only
/// micro-step of a single rank nothing has moved them.
StepTotals gather_gradients(const Training& t, const RunState& state, std::int64_t micro_steps,
                            double nominal) {
  MicroStep at;
  at.seed = static_cast<std::uint64_t>(t.recipe.seed);
  at.step = state.position.step;
  at.nominal = nominal;
  at.loss_scale = current_scale(state);
  at.scaled = state.loss_scale.has_value();
  std::optional<KeptBuffers> buffers;
  if (t.world->rank == 0 && (t.world->size > 1 || micro_steps > 1))
    buffers.emplace(t.engine->model());
  t.engine->begin();
  for (std::int64_t micro = 0; micro < micro_steps; ++micro) {
    at.last = micro + 1 == micro_steps;
    const auto batch = next_batch(t, state.position, at.data_lost);
    log_samples(batch, at.step, micro);
    t.engine->accumulate(batch, *t.loss, at);
  }
  const auto totals = t.engine->finish();
  if (totals.data_lost && buffers) buffers->put_back();
  return totals;
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

// One pass over the gradients: removal of the loss scale, the weight ratio and clipping, skipped
// when it is 1.
double scale_and_clip(const Training& t, std::int64_t step, double factor) {
  auto all = gradients(t);
  const bool logs = log_is_due(t, step) && !all.empty();
  const double norm = logs ? std::abs(factor) * gradient_norm(all).item<double>()
                           : std::numeric_limits<double>::quiet_NaN();
  if (t.clip) {
    const double clipped = (*t.clip)(all, factor);
    return std::isnan(clipped) ? norm : clipped;
  }
  if (factor != 1.0) at::_foreach_mul_(all, factor);
  return norm;
}

void count_bad(const Training& t, Position& at, std::int64_t left_out) {
  if (left_out == 0) return;
  at.bad_in_epoch += left_out;
  require_few_bad(t.recipe.policy, at.bad_in_epoch, std::ssize(t.sampler->order(at.epoch)),
                  "training samples of epoch " + std::to_string(at.epoch + 1));
}

void refuse_or_skip(const PolicySpec& policy, RunState& state, const StepTotals& totals) {
  ++state.position.skipped_steps;
  if (state.loss_scale) return;  // a smaller scale is tried at the next step
  const auto where = "step " + std::to_string(state.position.step + 1);
  if (policy.on_non_finite == OnNonFinite::stop)
    throw Error(
        Exit::non_finite,
        "the loss is not finite at " + where + " (sum " + std::to_string(totals.loss_sum) +
            "); a smaller optimizer.lr or train.clip may help; 'policy.on_non_finite: skip' "
            "leaves such steps out");
  log::warning("the loss is not finite at " + where + "; the step is left out");
}

}  // namespace

StepReport make_step(const Training& t, RunState& state, std::int64_t micro_steps) {
  const double nominal = state.nominal > 0 ? state.nominal : static_cast<double>(t.length.global);
  const double scale = current_scale(state);
  StepReport report;
  const auto totals = gather_gradients(t, state, micro_steps, nominal);
  report.data_lost = totals.data_lost;
  report.changed = totals.finite && totals.weight > 0 && !totals.data_lost;
  if (totals.data_lost) return report;
  count_bad(t, state.position, totals.left_out);
  const auto rates = rates_of(t, state);
  report.loss = totals.weight > 0 ? totals.loss_sum / totals.weight
                                  : std::numeric_limits<double>::quiet_NaN();
  report.lr = rates.lr;
  report.momentum = rates.momentum ? rates.momentum : t.optimizer->momentum();
  report.gradient_norm = std::numeric_limits<double>::quiet_NaN();
  if (state.loss_scale) state.loss_scale->update(totals.finite);
  if (!totals.finite) {
    refuse_or_skip(t.recipe.policy, state, totals);
  } else if (totals.weight == 0) {
    ++state.position.empty_steps;
    log::warning("step " + std::to_string(state.position.step + 1) +
                 " has no counted sample; nothing was changed");
  }
  if (!report.changed) return report;
  if (state.nominal == 0) state.nominal = totals.weight;
  report.gradient_norm = scale_and_clip(t, state.position.step, nominal / (scale * totals.weight));
  t.optimizer->step(rates);
  t.engine->parameters_changed();
  if (t.ema && average_is_due(t, state.position.step + 1)) t.ema->update();
  return report;
}

}  // namespace ddptrain
