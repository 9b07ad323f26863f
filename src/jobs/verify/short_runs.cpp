#include "jobs/verify/short_runs.h"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>

#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "launch/run_process.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::string text_of(const RunCut& cut) {
  auto text = precision_name(cut.precision) + ", " + plural(cut.devices, "device");
  if (cut.accumulate > 1) text += fmt::format(", accumulate {}", cut.accumulate);
  return text;
}

}  // namespace

ShortRuns::ShortRuns(ShortRunPlan plan, const Arguments& arguments)
    : plan_(std::move(plan)), arguments_(arguments), folder_("ddptrain-verify-") {
  adopt_descendants();
}

std::string ShortRuns::trained(const RunCut& cut, std::int64_t until) {
  log::status(fmt::format("training to step {}: {}", until, text_of(cut)));
  return made({cut, until, ""},
              [&](const ShortRun& run) { return train_short(plan_, cut, run, arguments_); });
}

std::string ShortRuns::resumed(const RunCut& cut, std::int64_t until, const std::string& from) {
  log::status(fmt::format("resuming to step {}: {}", until, text_of(cut)));
  return made({cut, until, checkpoint_in(from)},
              [&](const ShortRun& run) { return train_short(plan_, cut, run, arguments_); });
}

std::string ShortRuns::kept(const RunCut& cut, std::int64_t until) {
  log::status("training with its gradients kept: " + text_of(cut));
  return made({cut, until, "kept"}, [&](const ShortRun& run) {
    return train_short(plan_, cut, {run.folder, {}, until, /*keeps_gradients=*/true}, arguments_);
  });
}

std::string ShortRuns::following(const RunCut& cut, std::int64_t until, const std::string& kept) {
  log::status("training with the gradients of another run: " + text_of(cut));
  return made({cut, until, kept}, [&](const ShortRun& run) {
    return train_short(plan_, cut, {run.folder, {}, until, false, kept}, arguments_);
  });
}

std::string ShortRuns::shaken(const RunCut& cut, std::int64_t until) {
  const auto own = kept(cut, until);
  log::status("training with weights that are shaken by rounding errors: " + text_of(cut));
  return made({cut, until, own + " shaken"}, [&](const ShortRun& run) {
    return train_short(plan_, cut, {run.folder, {}, until, false, own, FollowersWeights::shaken},
                       arguments_);
  });
}

std::string ShortRuns::scored(const RunCut& cut, const std::string& from) {
  log::status("evaluating: " + text_of(cut));
  return made({cut, 0, checkpoint_in(from)},
              [&](const ShortRun& run) { return score_short(plan_, cut, run); });
}

void ShortRuns::forget() {
  for (const auto& [key, folder] : made_) fs::remove_all(folder);
  made_.clear();
}

std::string ShortRuns::made(const Key& key, const Work& work) {
  if (const auto found = made_.find(key); found != made_.end()) return found->second;
  const auto& [cut, until, checkpoint] = key;
  const ShortRun run{fmt::format("{}/runs/{}", folder_.path(), ++count_), checkpoint, until};
  run_in_child([&] { return work(run); });
  return made_.emplace(key, run.folder).first->second;
}

// The kernel kills ranks whose launcher is gone, and they become children of this process, which
// waits for them: nothing writes into the folder that is about to be removed.
void ShortRuns::run_in_child(const std::function<int()>& work) {
  RunProcess run(work, "", signals_.of_children());
  auto& child = run.child();
  while (!child.reap()) {
    const auto asked = signals_.next(0.1, [&](int signal) { child.send(signal); });
    if (asked.what != Asked::stop && asked.what != Asked::end_now) continue;
    log::status("");
    child.send(SIGKILL);
    child.wait();
    wait_for_descendants();
    throw Interrupted{asked.signal};
  }
  if (child.code() == 0) return;
  const auto failure = run.failure();
  throw Error(failure.code, failure.message, failure.place);
}

}  // namespace ddptrain
