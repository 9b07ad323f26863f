// `stop RUN...`: asks runs of this machine to save and end.
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/output/print.h"
#include "base/text.h"
#include "cli/runs/running.h"
#include "cli/verb.h"
#include "launch/signals.h"
#include "recipe/run_folders.h"
#include "runs/run_folder.h"
#include "runs/run_list.h"
#include "runs/run_record.h"

namespace ddptrain {
namespace {

using std::chrono::milliseconds;

constexpr Flag kNow{"--now", "", "end at once, without a checkpoint: later steps are lost"};
constexpr milliseconds kLook{50};

/// The second word after the name of a process in /proc/PID/stat.
pid_t parent_of(pid_t process) {
  const auto text = read_text(fmt::format("/proc/{}/stat", process));
  const auto words = split(text.substr(text.rfind(')') + 2), ' ');
  return static_cast<pid_t>(parse_integer(words.at(1)).value_or(0));
}

struct Stopped {
  std::set<pid_t> processes;         // that are asked
  std::vector<std::string> folders;  // of runs that end with them
};

/// A sweep is asked itself, so that no other trial begins.
Stopped found_in(const std::string& folder) {
  Stopped stopped;
  for (const auto& found : find_runs(folder)) {
    const auto runs = found.is_sweep ? found.runs : std::vector<std::string>{found.path};
    for (const auto& run : runs) {
      const auto process = process_of_run(run);
      if (process == 0) continue;
      stopped.processes.insert(found.is_sweep ? parent_of(process) : process);
      stopped.folders.push_back(run);
    }
  }
  return stopped;
}

[[noreturn]] void refuse_idle(const std::string& folder) {
  const auto why = !holds_run(folder)  ? "holds no run that goes on"
                   : is_locked(folder) ? "goes on on another machine, or for another user"
                                       : "does not go on";
  throw Error(Exit::data, "'{}' {}; 'ddptrain ps' shows those that do", folder, why);
}

void stop_in(const std::string& folder, bool at_once) {
  const auto stopped = found_in(folder);
  if (stopped.processes.empty()) refuse_idle(folder);
  for (const auto process : stopped.processes) {
    send_signal(process, at_once ? SIGINT : SIGTERM);
    if (!at_once) continue;
    std::this_thread::sleep_for(kLook);  // two signals, not one: the second one ends at once
    send_signal(process, SIGINT);
  }
  for (const auto& run : stopped.folders) {
    log::info("waiting for '{}' to end{}", run, at_once ? "" : ", which saves first");
    while (is_locked(run)) std::this_thread::sleep_for(kLook);
    print_shown("%s: %s\n", run.c_str(),
                holds_run(run) ? status_text(read_run_record(run)).c_str()
                               : "gone, since it had made no step");
  }
}

int stop(const Arguments& arguments) {
  for (const auto& folder : arguments.words) stop_in(folder, arguments.has(kNow.name));
  return 0;
}

}  // namespace

Verb stop_verb() {
  return {.name = "stop",
          .usage = "RUN_FOLDER|SWEEP_FOLDER...",
          .summary = "ask runs of this machine to finish the step, save and end, and wait for that",
          .flags = {kNow},
          .min_words = 1,
          .run = stop};
}

}  // namespace ddptrain
