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

/// Adds what the weights in place generate; false where all ranks left early.
bool add_generated(Training& t, SampleGenerator& generator, const std::function<bool()>& asked,
                   const std::function<void()>& alive, const std::string& weights,
                   GeneratedTexts& all) {
  const bool generates = t.world->rank == 0;
  if (generates) generator.begin();
  const auto round = [&](std::size_t) {
    const bool goes_on = is_going_on(t, generates && !generator.is_done());
    if (goes_on && generates) generator.round();
    if (goes_on) t.engine->join_continuation();
    if (alive) alive();
  };
  if (!in_rounds(*t.world->control, generator.rounds(), asked, round)) return false;
  if (!generates) return true;
  auto found = generator.end();
  for (auto& text : found) text.weights = weights;
  std::move(found.begin(), found.end(), std::back_inserter(all));
  return true;
}

}  // namespace

std::optional<GeneratedTexts> generate_samples(Training& t, SampleGenerator& generator,
                                               const std::function<bool()>& asked,
                                               const std::function<void()>& alive) {
  const PhaseScope phase(Phase::evaluation);
  GeneratedTexts all;
  if (!add_generated(t, generator, asked, alive, "valid", all)) return {};
  if (!has_average(t)) return all;
  const AverageInPlace average(t);
  if (!add_generated(t, generator, asked, alive, "valid" + average_suffix(t), all)) return {};
  return all;
}

}  // namespace ddptrain
