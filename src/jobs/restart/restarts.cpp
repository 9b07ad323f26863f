#include "jobs/restart/restarts.h"

#include <fmt/format.h>

#include <csignal>
#include <memory>
#include <utility>

#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "launch/shared_memory.h"
#include "runs/local_folder.h"
#include "runs/run_folder.h"
#include "train/build/micro_batch.h"

namespace ddptrain {
namespace {

bool is_request(int code) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR1})
    if (code == 128 + signal) return true;
  return false;
}

/// What the first start found (batch.micro auto) stays.
void keep_found_micro(Job& job, std::int64_t micro) {
  job.placement.batch = with_micro(job.placement.batch, micro);
  job.placement.find_micro = false;
  job.recipe = resolved(std::move(job.recipe), job.placement);
  job.recipe_text = job.record(job.recipe);
}

std::optional<std::string> newest_in(const std::string& folder) {
  if (folder.empty()) return {};
  std::vector<std::string> notes;
  auto newest = newest_checkpoint(folder + "/checkpoints", notes);
  for (const auto& note : notes) log::warning(note);
  return newest;
}

/// The newest that this node has of checkpoint.local, whole or not: that the run went on.
std::optional<std::string> newest_local_in(const Recipe& recipe, const std::string& folder) {
  if (!recipe.checkpoint.local || folder.empty()) return {};
  const auto name = known_local_folder_name(folder);
  if (!name) return {};
  const auto found = list_checkpoints(recipe.checkpoint.local->dir + "/" + *name);
  return found.empty() ? std::nullopt : std::optional(found.back());
}

/// Whether its ranks may start again at all: another launcher's are its own.
bool starts_again(const Job& job, const Topology& outer) {
  if (most_restarts(job.recipe) == 0) return false;
  return outer.is_node || (!outer.joined() && job.placement.ranks > 1);
}

/// A meeting of its own at the same address, for each start: rank 0's node counts, another goes on
/// from the last one that its ranks came to, which may be another number than it counts itself.
Topology topology_of_start(const Topology& outer, std::int64_t restarts, ReportedNumber& came_to) {
  auto topology = outer;
  topology.start = outer.rank == 0 ? restarts + 1 : came_to.get().value_or(0) + 1;
  topology.came_to = &came_to;
  return topology;
}

/// Rank 0 of several nodes made the folder, and locks it again.
void enter_again(Job& job, const Topology& outer, const std::string& folder,
                 std::unique_ptr<FileLock>& lock) {
  if (!outer.is_node || folder.empty()) return;
  job.make_folder = [folder, &lock] {
    lock = lock_run(folder);
    return folder;
  };
}

void log_refusal(Restarts::Answer answer, const Restarts& restarts) {
  if (answer == Restarts::Answer::used_up)
    log::error("not started again: {} restarts were made (parallel.restarts)", restarts.count());
  if (answer == Restarts::Answer::stuck)
    log::error("not started again: no checkpoint was made since the last start");
}

}  // namespace

std::optional<std::int64_t> most_restarts(const Recipe& recipe) {
  const auto written = recipe.parallel.restarts;
  const bool always = recipe.policy.on_rank_failure == OnRankFailure::restart;
  if (written == 0 && always) return {};
  return written;
}

Restarts::Restarts(std::optional<std::int64_t> most, std::optional<std::string> checkpoint,
                   bool on_nodes)
    : most_(most), checkpoint_(std::move(checkpoint)), on_nodes_(on_nodes) {}

Restarts::Answer Restarts::after(int code, const std::optional<std::string>& newest) {
  const bool died = (code > 128 && !is_request(code)) || code == static_cast<int>(Exit::hang);
  const bool lost_device = code == static_cast<int>(Exit::device);
  if (!died && !lost_device) return Answer::no;
  const bool stuck = newest == checkpoint_;
  if (stuck && (was_stuck_ || !(died || on_nodes_))) return Answer::stuck;
  if (most_ && count_ >= *most_) return Answer::used_up;
  was_stuck_ = stuck;
  checkpoint_ = newest;
  ++count_;
  return Answer::again;
}

std::string Restarts::in_words() const {
  return fmt::format("restart {}", count_) + (most_ ? fmt::format(" of {}", *most_) : "");
}

int run_with_restarts(Job job, const Topology& outer,
                      const std::function<RankMain(const Job&)>& one_rank, log::Level level) {
  const bool restarts_ranks = starts_again(job, outer);
  Restarts restarts(most_restarts(job.recipe), job.checkpoint, outer.is_node);
  ReportedNumber micro;
  ReportedNumber came_to;
  ReportedText made;  // the run folder, where rank 0 of several nodes makes it
  std::unique_ptr<FileLock> lock;
  job.report_batch = [&](const BatchPlan& batch) { micro.set(batch.micro); };
  const auto rank = [&](const Topology& topology, const Hooks& given) {
    auto hooks = given;
    hooks.in_folder = [&](const std::string& folder) {
      made.set(folder);
      if (given.in_folder) given.in_folder(folder);
    };
    return one_rank(job)(topology, hooks);
  };
  while (true) {
    const int code = start_ranks(
        job.recipe, job.placement, topology_of_start(outer, restarts.count(), came_to), rank,
        {level, job.folder, &job.tree, /*makes_logs=*/true, job.usr1, restarts_ranks});
    if (!restarts_ranks) return code;
    const auto folder = job.folder.empty() ? made.get() : job.folder;
    const auto newest = newest_in(folder);
    const auto local = newest_local_in(job.recipe, folder);
    const auto answer = restarts.after(code, local ? newest.value_or("") + *local : newest);
    if (answer != Restarts::Answer::again) return log_refusal(answer, restarts), code;
    if (const auto found = micro.get(); found && job.placement.find_micro && !outer.is_node)
      keep_found_micro(job, *found);
    enter_again(job, outer, folder, lock);
    job.rewrite_recipe = job.set_aside = false;
    job.may_be_local = true;
    job.without_local.clear();
    job.checkpoint = newest;
    job.restart = fmt::format("{} after exit code {}", restarts.in_words(), code);
    log::warning("starting again from {} ({})", newest.value_or("the first step"),
                 restarts.in_words());
  }
}

}  // namespace ddptrain
