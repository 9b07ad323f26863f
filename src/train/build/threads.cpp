#include "train/build/threads.h"

#include <ATen/core/grad_mode.h>

#include "data/dataset.h"
#include "distributed/engine.h"
#include "train/build/flops.h"
#include "train/build/micro_batch.h"
#include "train/training.h"

namespace ddptrain {

int worthwhile_threads(const Training& t) {
  const auto placed = t.placement.threads;
  if (!t.placement.find_threads || placed == 1) return placed;
  const at::NoGradGuard no_grad;
  const FlopCounter counter;
  t.engine->evaluate(largest_batch(*t.data, 1));
  const auto flops = static_cast<double>(counter.count() * t.placement.batch.micro);
  if (flops == 0 || flops >= kLeastParallelFlops) return placed;  // 0: no operation it counts
  return 1;
}

}  // namespace ddptrain
