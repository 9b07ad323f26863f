#include "train/step/account.h"

#include <fmt/format.h>

#include <iterator>

#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "data/loader/bad_samples.h"
#include "sources/sampler.h"
#include "train/run_state.h"
#include "train/step/step.h"
#include "train/training.h"

namespace ddptrain {
namespace {

void count_bad(const Training& t, Position& at, std::int64_t left_out) {
  if (left_out == 0) return;
  at.bad_in_epoch += left_out;
  require_few_bad(t.recipe.policy, at.bad_in_epoch, std::ssize(t.sampler->order(at.epoch)),
                  fmt::format("training samples of epoch {}", at.epoch + 1));
}

void refuse_or_skip(const PolicySpec& policy, RunState& state, const StepTotals& totals) {
  ++state.position.skipped_steps;
  if (state.loss_scale) return;  // a smaller scale is tried at the next step
  const auto what =
      fmt::format("{} is not finite at step {}", totals.loss_finite ? "a gradient" : "the loss",
                  state.position.step + 1);
  if (policy.on_non_finite == OnNonFinite::stop)
    throw Error(Exit::non_finite,
                "{} (sum {}); a smaller optimizer.lr or train.clip may help; "
                "'policy.on_non_finite: skip' leaves such steps out",
                what, format_fixed(totals.loss_sum, 6));
  log::warning("{}; the step is left out", what);
}

void count_empty(Position& at) {
  ++at.empty_steps;
  log::warning("step {} has no counted sample; nothing was changed", at.step + 1);
}

}  // namespace

void account(const Training& t, RunState& state, const StepReport& report, std::int64_t samples) {
  const auto& totals = report.totals;
  if (totals.data_lost) return;
  auto& at = state.position;
  count_bad(t, at, totals.left_out);
  if (state.loss_scale) state.loss_scale->update(totals.finite);
  if (!totals.finite)
    refuse_or_skip(t.recipe.policy, state, totals);
  else if (totals.weight == 0)
    count_empty(at);
  if (report.changed() && state.nominal == 0) state.nominal = totals.weight;
  move_on(at, t.length.per_epoch);
  at.samples += samples;
  at.train_loss = report.loss();
  at.lr = report.lr;
}

}  // namespace ddptrain
