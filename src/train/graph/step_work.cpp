#include "train/graph/step_work.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <utility>

#include "distributed/engine.h"
#include "distributed/window_numbers.h"
#include "launch/failure.h"
#include "optim/ema.h"
#include "optim/step_capture.h"
#include "train/training.h"
#include "train/update/decision.h"
#include "train/update/group_norms.h"
#include "train/update/scale_and_clip.h"
#include "train/update/sharded_optimizer.h"

namespace ddptrain {

EagerWork::EagerWork(Training& training, Decision& decision) : t_(training), decision_(decision) {}

void EagerWork::begin(const StepInputs&, std::int64_t) { t_.engine->begin(); }

void EagerWork::pass(const Batch& batch, const MicroStep& at) {
  t_.engine->accumulate(batch, *t_.loss, at);
}

StepOutcome EagerWork::decide(const StepInputs& inputs, bool asked) {
  return decide(inputs, asked, /*ahead=*/false);
}

StepOutcome EagerWork::decide_as_captured(const StepInputs& inputs, bool asked) {
  return decide(inputs, asked, /*ahead=*/true);
}

StepOutcome EagerWork::decide(const StepInputs& inputs, bool asked, bool ahead) {
  const auto numbers = t_.engine->sum(asked);
  auto overflow = at::zeros({1}, numbers.options().dtype(at::kFloat));
  const bool wants_norm = ahead || inputs.norm_is_wanted;
  const auto factor = decision_.factor(numbers, inputs.nominal);
  at::Tensor norms;
  if (wants_norm && t_.recipe.log.group_norms) {
    norms = group_norms(*t_.optimizer, shared_gradients(t_.recipe, *t_.engine));
    norms[0].mul_(factor.abs());
  }
  const auto [norm, clips] = scale_and_clip(t_, wants_norm, factor, overflow);
  numbers.select(0, kOverflow).copy_(overflow.reshape({}));
  if (norm.defined()) numbers.select(0, kNorm).copy_(norm);
  auto refused = ahead && ends_unless_finite(t_, decision_) ? decision_.refused_for_good(numbers)
                                                            : decision_.refused(numbers);
  decision_.update_scale(numbers);
  const auto all = norms.defined() ? at::cat({numbers, norms.flatten()}) : numbers;
  return {all, std::move(refused), norm.defined(), clips, numbers.numel()};
}

void EagerWork::update(const StepInputs& inputs, const StepOutcome& outcome) {
  auto rates = inputs.rates;
  rates.refused = outcome.refused;
  in_phase("the optimizer's step", [&] { t_.optimizer->step(rates); });
}

StepOutcome EagerWork::capture_rest(const StepInputs& inputs) {
  auto outcome = decide(inputs, /*asked=*/false, /*ahead=*/true);
  t_.optimizer->step_capture()->capture(outcome.refused);
  if (t_.ema) t_.ema->capture(outcome.refused);
  outcome.is_whole = true;
  return outcome;
}

bool ends_unless_finite(Training& t, const Decision& decision) {
  return t.recipe.policy.on_non_finite == OnNonFinite::stop && !decision.has_loss_scale();
}

}  // namespace ddptrain
