#include "train/loop/final_scores.h"

#include <filesystem>

#include "base/output/log.h"
#include "checkpoint/checkpoint.h"
#include "distributed/world.h"
#include "train/build/weights_memory.h"
#include "train/loop/load_together.h"
#include "train/loop/loop.h"
#include "train/loop/state.h"
#include "train/training.h"

namespace ddptrain {
namespace {

/// The folder of the best checkpoint as rank 0 sees it, which has written it; empty: it is gone.
std::string best_checkpoint(World& world, const std::string& checkpoints, std::int64_t step) {
  const auto folder = checkpoints + "/" + checkpoint_name(step);
  const bool is_there = world.rank != 0 || std::filesystem::exists(folder);
  return broadcast_text(*world.control, is_there ? folder : std::string(), 0);
}

void label_tables(std::vector<NamedTable>& tables, const ScoredWeights& weights) {
  for (auto& table : tables) table.weights = weights;
}

/// Gives the model and its average the weights that are a run's result: the best where
/// checkpoint.keep_best keeps them in the folder `checkpoints`, else those that they have. All
/// ranks call it together, after rank 0 has written its checkpoints. Where the best checkpoint is
/// gone a warning says so, or with eval.test an Error (Exit::data); likewise one of a damaged
/// checkpoint.
ScoredWeights take_result_weights(Training& t, const RunState& state,
                                  const std::string& checkpoints) {
  const auto last = state.position.step;
  if (!t.recipe.checkpoint.keep_best || !state.best || checkpoints.empty())
    return {"last weights", last};
  const auto best = state.best->step;
  if (best == last) return {"best and last weights", last};
  const auto folder = best_checkpoint(*t.world, checkpoints, best);
  if (folder.empty() && t.test.empty()) {
    if (t.world->rank == 0)
      log::warning(
          "the checkpoint of the best weights (step {}) is gone: tables and samples at the end are "
          "those of the last weights",
          best);
    return {"last weights", last};
  }
  const auto from = folder.empty() ? checkpoints + "/" + checkpoint_name(best) : folder;
  with_weights([&] { restore_weights(t, load_together(from, *t.world)); });
  return {"best weights", best};
}

}  // namespace

void keep_scores(RunResult& result, const ScoredWeights& weights, Evaluation found) {
  result.weights = weights;
  result.scored = std::move(found);
  label_tables(result.scored.tables, weights);
}

void conclude(RunResult& result, const CompleteRun& run, const Score& score,
              const std::function<void(Moment, const Evaluation&)>& report) {
  const auto weights = take_result_weights(run.training, run.state, run.checkpoints);
  const bool is_scored = !result.weights.name.empty() && result.weights.step == weights.step;
  auto found = is_scored ? std::move(result.scored) : score(Evaluated::validation, "evaluation");
  if (!found) return;
  keep_scores(result, weights, std::move(*found));
  report(Moment::concluded, result.scored);
  if (run.training.test.empty()) return;
  auto tested = score(Evaluated::test, "test");
  if (!tested) return;
  label_tables(tested->tables, weights);
  result.test = std::move(*tested);
  report(Moment::tested, *result.test);
}

}  // namespace ddptrain
