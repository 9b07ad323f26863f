// `eval RUN`: the run's last evaluation again, to the last bit, on any number of ranks.
#include <cstdio>

#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "cli/saved_run.h"
#include "cli/start.h"
#include "cli/verb.h"
#include "train/build.h"
#include "train/evaluate.h"
#include "train/rank.h"
#include "train/state.h"

namespace ddptrain {
namespace {

int eval_rank(const SavedRun& run, const Recipe& recipe, const Placement& placement,
              const Topology& topology, const Hooks& hooks) {
  prepare_process(recipe, placement);
  auto world = join_world(recipe, placement, topology);
  const auto alive = [&] {
    if (hooks.beat) hooks.beat(0, "evaluation");
  };
  alive();
  const auto checkpoint = load_checkpoint(run.checkpoint);
  auto training = build(recipe, placement, world, fitted_state(checkpoint));
  restore_weights(training, checkpoint);
  const auto values = evaluate(training, alive);
  if (world.rank == 0)
    for (const auto& [name, value] : values)
      std::printf("%s %s\n", name.c_str(), format_number(value).c_str());
  return 0;
}

int eval(const Arguments& arguments) {
  auto words = split_words({arguments.words.begin() + 1, arguments.words.end()});
  // Batches of training do not matter here, whatever the number of ranks.
  words.overrides.insert(words.overrides.begin(), {"~batch", "batch.per_device=1"});
  const auto run =
      open_run(arguments.words[0], words.overrides, arguments.value("--checkpoint", "last"));
  const auto outer = topology_from_environment();
  const auto placement = place(run.recipe, outer);
  const auto recipe = resolved(run.recipe, placement);
  return start_ranks(recipe, placement, outer,
                     [&](const Topology& topology, const Hooks& hooks) {
                       return eval_rank(run, recipe, placement, topology, hooks);
                     },
                     {arguments.level, {}});
}

}  // namespace

Verb eval_verb() {
  return {
      .name = "eval",
      .usage = "RUN_FOLDER [key=value...]",
      .summary = "the metrics of a run's weights on its validation data",
      .flags = {{"--checkpoint", "WHICH", "last (default), best, or a name such as step-00000740"}},
      .min_words = 1,
      .run = eval};
}

}  // namespace ddptrain
