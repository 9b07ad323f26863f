#include "train/step/micro_batches.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/files/mapping_guard.h"
#include "base/output/log.h"
#include "data/dataset.h"
#include "data/loader/loader.h"
#include "data/mix/mixing.h"
#include "distributed/phases.h"
#include "train/run_state.h"
#include "train/step/step.h"
#include "train/training.h"

namespace ddptrain {
namespace {

// Under -v each rank's log says what it trains on.
void log_samples(const Batch& batch, const StepPlace& place, std::int64_t micro) {
  if (!log::is_verbose()) return;
  log::debug("samples {}.{}: {}", place.step + 1, micro + 1, fmt::join(batch.indices, " "));
}

/// What a rank that cannot load its rows brings to the collectives of a step.
Batch without_rows(const Training& t, std::int64_t epoch) {
  auto batch = t.data->allocate_train(epoch, 0);
  batch.rows = 0;
  if (t.mix) mix_rows(*t.mix, {seed_of_data(t.recipe), epoch, t.length.global}, {}, {}, batch);
  return batch;
}

Batch loaded_or_empty(const Training& t, std::int64_t epoch, bool& data_lost) {
  const PhaseScope phase(Phase::loader);
  try {
    if (!data_lost) return t.loader->next();
  } catch (const Error&) {
    if (lost_mapped_file().empty()) throw;
    data_lost = true;
  }
  return without_rows(t, epoch);
}

}  // namespace

double nominal_of(const Training& t, const RunState& state) {
  return state.nominal > 0 ? state.nominal : static_cast<double>(t.length.global);
}

MicroStep first_micro_step(const Training& t, const RunState& state, const StepPlace& at) {
  MicroStep micro;
  micro.seed = static_cast<std::uint64_t>(t.recipe.seed);
  micro.step = at.step;
  micro.nominal = nominal_of(t, state);
  micro.loss_scale = state.loss_scale ? state.loss_scale->scale() : 1.0;
  return micro;
}

Batch next_batch(const Training& t, const StepPlace& place, std::int64_t micro, MicroStep& at) {
  auto batch = loaded_or_empty(t, place.epoch, at.data_lost);
  log_samples(batch, place, micro);
  return batch;
}

}  // namespace ddptrain
