#include "train/loop/view.h"

#include <algorithm>

#include "distributed/world.h"
#include "recipe/period.h"
#include "train/device_memory.h"
#include "train/run_state.h"
#include "train/training.h"

namespace ddptrain {

void show_position(RunView& view, const Position& at, const RunLength& length) {
  view.step = at.step;
  view.train_loss = at.train_loss;
  view.lr = at.lr;
  view.total_steps = length.total;
  view.per_epoch = length.per_epoch;
  view.epoch = static_cast<double>(at.epoch) +
               static_cast<double>(at.step_in_epoch) / static_cast<double>(length.per_epoch);
  view.samples = at.samples;
}

MemoryUse memory_use(const Training& t) {
  const auto memory = fullest_device(t.placement, t.world->local_rank);
  return {memory.peak_reserved, memory.total};
}

bool is_for_observers(Moment moment) {
  return moment == Moment::evaluating || moment == Moment::saving || moment == Moment::saved ||
         moment == Moment::concluded || moment == Moment::tested;
}

bool steers(const Callbacks& callbacks) {
  return std::ranges::any_of(callbacks, [](const auto& each) { return each->steers_each_step(); });
}

NamedValues seconds_by_phase(const std::array<double, kPhases + 1>& seconds, bool host_computes) {
  NamedValues named;
  double train = seconds[kPhases];
  for (std::size_t i = 0; i < kPhases; ++i) {
    const auto phase = static_cast<Phase>(i);
    const bool of_host =
        phase == Phase::loader || phase == Phase::evaluation || phase == Phase::saving;
    if (of_host || host_computes)
      named.emplace_back(name_of(phase), seconds[i]);
    else
      train += seconds[i];
  }
  named.emplace_back("train", train);
  return named;
}

}  // namespace ddptrain
