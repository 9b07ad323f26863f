#include "train/loop/epoch.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "data/dataset.h"
#include "data/loader/lengths.h"
#include "data/loader/loader.h"
#include "distributed/engine.h"
#include "distributed/world.h"
#include "sources/sampler.h"
#include "train/build/build.h"
#include "train/run_state.h"
#include "train/training.h"

namespace ddptrain {

EpochSteps start_epoch(Training& t, const Position& at) {
  if (at.step_in_epoch == 0) t.engine->carried().clear();
  auto order = t.sampler->order(at.epoch);
  const auto samples = static_cast<std::int64_t>(order.size());
  auto plan = shard(samples, shard_plan(t), t.world->rank);
  set_lengths(plan, step_lengths(lengths_of(*t.data, Split::train, order), shard_plan(t)));
  EpochPlan epoch{at.epoch, std::move(order), {}, t.length.global};
  EpochSteps steps;
  for (std::size_t step = 0; step < plan.size(); ++step) {
    steps.micro_steps.push_back(static_cast<std::int64_t>(plan[step].size()));
    const auto first = static_cast<std::int64_t>(step) * t.length.global;
    steps.samples.push_back(std::min(t.length.global, samples - first));
    if (static_cast<std::int64_t>(step) < at.step_in_epoch) continue;
    epoch.micros.insert(epoch.micros.end(), plan[step].begin(), plan[step].end());
  }
  t.loader->start(std::move(epoch));
  return steps;
}

}  // namespace ddptrain
