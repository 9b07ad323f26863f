#include "train/run/recorded_run.h"

#include "base/error.h"
#include "callbacks/writers.h"
#include "data/dataset.h"
#include "distributed/world.h"
#include "recipe/period.h"
#include "runs/events_jsonl.h"
#include "runs/metrics_csv.h"
#include "train/results/watched_metric.h"
#include "train/run/data_file.h"
#include "train/run/rank.h"
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

/// Of eval.splits and eval.test.
std::vector<NamedData> other_data(const Training& training) {
  std::vector<NamedData> others;
  for (const auto* splits : {&training.splits, &training.test})
    for (const auto& split : *splits) others.emplace_back(split.name, split.data.get());
  return others;
}

/// The recipe as it is trained and the checkpoints that it goes on from, then run.json.
RunJson begin_in(const std::string& folder, const Job& job, const Training& training) {
  const auto text = job.record ? job.record(training.recipe) : job.recipe_text;
  if (text != job.recipe_text || job.rewrite_recipe) write_recipe(folder, text);
  if (job.set_aside) set_checkpoints_aside(folder);
  auto launched = job.start;
  launched.threads = training.placement.threads;  // of a small network fewer than it could have
  if (auto transport = training.world->gradients->transport(); !transport.empty())
    launched.transport = std::move(transport);
  launched.new_recipe = job.rewrite_recipe;
  return begin_run(folder, launched, training.data->digest());
}

}  // namespace

NewRunFolder::NewRunFolder(const Job& job, const World& world, std::string folder)
    : start_(job.start), folder_(std::move(folder)), made_(world.rank == 0 && job.make_folder) {}

NewRunFolder::~NewRunFolder() {
  if (!made_) return;
  try {
    abandon_run(folder_, start_, static_cast<int>(Exit::data), false);
  } catch (const Error&) {  // whatever ended the start is what is reported
  }
}

RecordedRun::RecordedRun(const Job& job, const Training& training, std::string folder)
    : training_(training), folder_(std::move(folder)), file_(begin_in(folder_, job, training)) {
  if (auto watched = watched_metric(training.recipe)) best_.emplace(std::move(*watched));
  write_data_file(*training.data, other_data(training), folder_);
}

Callbacks RecordedRun::writers() {
  const Period period(training_.recipe.log.every, training_.length);
  Callbacks writers;
  writers.push_back(make_status_line(due_every(period)));
  if (training_.recipe.eval.samples) writers.push_back(make_text_lines());
  writers.push_back(make_metrics_csv(folder_ + "/" + kMetricsCsv, best_ ? &*best_ : nullptr));
  writers.push_back(make_tables_csv(folder_));
  writers.push_back(make_events_jsonl(folder_ + "/" + kEventsJsonl, due_every(period)));
  if (training_.recipe.log.tensorboard)
    writers.push_back(make_tensorboard(folder_ + "/tensorboard", due_every(period)));
  return writers;
}

void RecordedRun::end(RunResult& ending) const {
  if (best_) ending.best = best_->value();
  ending.earlier = earlier_of(file_);
  auto file = file_;
  file.result = ending.reason;
  file.metrics = scores_of(ending);
  file.evaluated = ending.evaluated;
  file.best = ending.best;
  file.seconds = ending.seconds;
  file.exit_code = exit_code(ending);
  end_run(folder_, std::move(file));
}

}  // namespace ddptrain
