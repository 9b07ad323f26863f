#include "jobs/verify/short_runs.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "jobs/why_ended.h"
#include "launch/failure.h"
#include "launch/rank_process.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// A child that is killed, with the ranks that it started, where it is left early. The kernel kills
/// ranks whose launcher is gone, and they become children of this process, which waits for them:
/// nothing writes into the folder that is about to be removed.
class KilledChild {
 public:
  explicit KilledChild(RankProcess& process) : process_(process) {}
  ~KilledChild() {
    if (!process_.running()) return;
    process_.send(SIGKILL);
    process_.wait();
    while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
  }
  KilledChild(const KilledChild&) = delete;
  KilledChild& operator=(const KilledChild&) = delete;

 private:
  RankProcess& process_;
};

Exit exit_of(int code) {
  if (code == 128 + SIGKILL) return Exit::memory;
  return code > 128 ? Exit::device : static_cast<Exit>(code);
}

std::string text_of(const RunCut& cut) {
  auto text = precision_name(cut.precision) + ", " + plural(cut.devices, "device");
  if (cut.accumulate > 1) text += ", accumulate " + std::to_string(cut.accumulate);
  return text;
}

}  // namespace

ShortRuns::ShortRuns(ShortRunPlan plan, const Arguments& arguments)
    : plan_(std::move(plan)), arguments_(arguments), folder_("ddptrain-verify-") {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::string ShortRuns::trained(const RunCut& cut, std::int64_t until) {
  log::status("training to step " + std::to_string(until) + ": " + text_of(cut));
  return made({cut, until, ""},
              [&](const ShortRun& run) { return train_short(plan_, cut, run, arguments_); });
}

std::string ShortRuns::resumed(const RunCut& cut, std::int64_t until, const std::string& from) {
  log::status("resuming to step " + std::to_string(until) + ": " + text_of(cut));
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
  const ShortRun run{folder_.path() + "/runs/" + std::to_string(++count_), checkpoint, until};
  run_in_child([&] { return work(run); });
  return made_.emplace(key, run.folder).first->second;
}

void ShortRuns::run_in_child(const std::function<int()>& work) {
  const ScratchFolder failures(folder_.path() + "/failures-");
  const auto output = failures.path() + "/output.txt";
  Topology topology;
  topology.rank = 1;  // what it throws goes into its output and a record, not to our terminal
  topology.store = failures.path();
  RankProcess process(
      topology,
      [&](const Topology&) {
        log::use_color(log::Color::never);
        return work();
      },
      output, signals_.of_children());
  {
    const KilledChild killed(process);
    while (!process.reap()) obey(signals_.next(0.1), process);
  }
  if (process.code() == 0) return;
  if (const auto failure = read_failure(failures.path(), process.rank()))
    throw Error(failure->code, failure->message, failure->place);
  throw Error(exit_of(process.code()), why_ended(process.code(), output));
}

void ShortRuns::obey(int signal, const RankProcess& process) const {
  if (signal == SIGTSTP) {
    process.send(SIGTSTP);
    ::raise(SIGSTOP);
    process.send(SIGCONT);
  }
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT) {
    log::status("");
    throw Interrupted{signal};
  }
}

}  // namespace ddptrain
