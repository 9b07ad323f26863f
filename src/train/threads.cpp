#include "train/threads.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include "train/flops.h"
#include "train/micro_batch.h"

namespace ddptrain {

void settle_threads(Training& t) {
  if (!t.placement.find_threads || t.placement.threads == 1) return;
  const at::NoGradGuard no_grad;
  const FlopCounter counter;
  t.engine->evaluate(largest_batch(*t.data, 1));
  const auto flops = static_cast<double>(counter.count() * t.placement.batch.micro);
  if (flops == 0 || flops >= kLeastParallelFlops) return;  // 0: nothing that the counter knows
  t.placement.threads = 1;
  t.recipe.train.threads = Auto<std::int64_t>(1);
  at::set_num_threads(1);
}

}  // namespace ddptrain
