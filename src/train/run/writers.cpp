#include "train/run/writers.h"

#include "callbacks/writers.h"
#include "recipe/period.h"
#include "train/training.h"

namespace ddptrain {
namespace {

Due due_every(const Period& period) {
  return [period, last = 0.0](const RunView& run) mutable {
    if (!period.timed()) return period.due(run.step);
    if (!period.due_after(run.seconds - last)) return false;
    last = run.seconds;
    return true;
  };
}

}  // namespace

Callbacks make_writers(const Training& training, const std::string& folder) {
  const Period period(training.recipe.log.every, training.length);
  Callbacks writers;
  writers.push_back(make_status_line(due_every(period)));
  writers.push_back(make_metrics_csv(folder + "/metrics.csv"));
  writers.push_back(make_tables_csv(folder));
  writers.push_back(make_events_jsonl(folder + "/events.jsonl", due_every(period)));
  if (training.recipe.log.tensorboard)
    writers.push_back(make_tensorboard(folder + "/tensorboard", due_every(period)));
  return writers;
}

}  // namespace ddptrain
