#include "train/step/shown_gradients.h"

#include "distributed/engine.h"
#include "distributed/sharding/shards.h"
#include "distributed/world.h"
#include "train/training.h"

namespace ddptrain {
namespace {

std::vector<NamedTensor> gathered(const Shards& shards, const std::vector<NamedTensor>& whole) {
  std::vector<NamedTensor> gradients;
  for (const auto& [name, piece] : shards.pieces())
    if (piece.grad().defined()) gradients.push_back({name, piece.grad()});
  std::vector<NamedTensor> parameters;
  for (const auto& [name, gradient] : shards.gather(gradients))
    for (const auto& [other, parameter] : whole)
      if (other == name) {
        parameters.push_back({name, parameter.detach()});
        parameters.back().tensor.mutable_grad() = gradient;
      }
  return parameters;
}

}  // namespace

void show_gradients(Training& t, const Stepper::GradientHook& hook, std::int64_t step) {
  if (!hook) return;
  auto parameters = t.engine->model().named_parameters();
  if (const auto* shards = t.engine->shards()) parameters = gathered(*shards, parameters);
  if (t.world->rank == 0) hook(parameters, step);
}

}  // namespace ddptrain
