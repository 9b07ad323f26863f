#include "train/run/test_split.h"

#include "checkpoint/checkpoint.h"
#include "distributed/world.h"
#include "train/build/weights_memory.h"
#include "train/run/state.h"
#include "train/training.h"

namespace ddptrain {
namespace {

/// The step of the weights that are the run's result.
std::int64_t result_step(const Training& t, const RunState& state, const std::string& checkpoints) {
  const bool kept = t.recipe.checkpoint.keep_best && state.best && !checkpoints.empty();
  return kept ? state.best->step : state.position.step;
}

}  // namespace

std::optional<TestScores> score_test(const Training& t, const RunState& state,
                                     const std::string& checkpoints,
                                     const std::function<bool()>& asked,
                                     const std::function<void()>& alive) {
  const auto step = result_step(t, state, checkpoints);
  // From rank 0: the others wait until it has written that checkpoint.
  const auto folder =
      broadcast_text(*t.world->control, checkpoints + "/" + checkpoint_name(step), 0);
  if (step != state.position.step)
    with_weights([&] { restore_weights(t, load_checkpoint(folder)); });
  auto found = evaluate_unless(t, asked, alive, Evaluated::test);
  if (!found) return {};
  return TestScores{std::move(*found), step};
}

}  // namespace ddptrain
