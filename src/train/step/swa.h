// Stochastic weight averaging: when weights enter the average, and its batch-norm statistics.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace ddptrain {

class Ema;
class Engine;
class Model;
struct Position;
struct Recipe;
struct RunLength;
struct Training;

/// The average that the recipe asks for (train.ema or train.swa), of the model's weights; null:
/// none.
std::unique_ptr<Ema> build_average(const Recipe& recipe, Engine& engine);

/// An Error (Exit::recipe) where the recipe asks for train.swa and the run is too short for it.
void require_an_average(const Recipe& recipe, const RunLength& length);

/// Whether the weights enter the run's average after `step` steps; always with an EMA.
bool average_is_due(const Training& training, std::int64_t step);

/// Whether the average still lacks batch-norm statistics of its own: they are wanted, the model has
/// batch norm, and weights entered the average since they were measured. The same on every rank.
bool average_statistics_are_missing(const Training& training);

/// Measures them where they are missing, as torch.optim.swa_utils.update_bn: means over the batches
/// of one pass over train in the order of the last epoch up to `at`, cut alike on any number of
/// ranks, which share the batches (of eval.batch samples, at least two). All ranks call it
/// together; `alive` is called after every batch. False, on all ranks alike, where nothing was
/// measured since `asked` (asked before every batch) was true on one or a mapped file was
/// truncated.
bool update_average_statistics(Training& training, const Position& at,
                               const std::function<bool()>& asked = {},
                               const std::function<void()>& alive = {});

}  // namespace ddptrain
