#include "train/step/generated_samples.h"

#include <ATen/ops/tensor.h>

#include <iterator>
#include <string>
#include <utility>

#include "distributed/engine.h"
#include "distributed/phases.h"
#include "distributed/world.h"
#include "train/requests.h"
#include "train/step/averaged_weights.h"
#include "train/training.h"

namespace ddptrain {
namespace {

/// What rank 0 says, where ranks have to join in its round.
bool is_going_on(Training& t, bool own) {
  if (!t.engine->continuation_blocks()) return own;
  auto flag = at::tensor({own ? 1.0 : 0.0}, at::kDouble);
  t.world->control->broadcast(flag, 0);
  return flag.item<double>() == 1;
}

/// What the weights in place generate; nothing where all ranks left early.
std::optional<GeneratedTexts> generated_by(const std::string& weights, Training& t,
                                           SampleGenerator& generator,
                                           const std::function<bool()>& asked,
                                           const std::function<void()>& alive) {
  const bool generates = t.world->rank == 0;
  if (generates) generator.begin();
  const auto round = [&](std::size_t) {
    const bool goes_on = is_going_on(t, generates && !generator.is_done());
    if (goes_on && generates) generator.round();
    if (goes_on) t.engine->join_continuation();
    if (alive) alive();
  };
  if (!in_rounds(*t.world->control, generator.rounds(), asked, round)) return {};
  if (!generates) return GeneratedTexts();
  auto found = generator.end();
  for (auto& text : found) text.weights = weights;
  return found;
}

}  // namespace

std::optional<GeneratedTexts> generate_samples(Training& t, SampleGenerator& generator,
                                               const std::function<bool()>& asked,
                                               const std::function<void()>& alive) {
  const PhaseScope phase(Phase::evaluation);
  auto all = generated_by("valid", t, generator, asked, alive);
  if (!all || !has_average(t)) return all;
  const AverageInPlace average(t);
  auto averaged = generated_by("valid" + average_suffix(t), t, generator, asked, alive);
  if (!averaged) return {};
  std::move(averaged->begin(), averaged->end(), std::back_inserter(*all));
  return all;
}

}  // namespace ddptrain
