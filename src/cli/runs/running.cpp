#include "cli/runs/running.h"

#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "recipe/run_folders.h"
#include "runs/run_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// The process that took the lock which a descriptor holds, by /proc/PID/fdinfo/N: "lock: 1: FLOCK
/// ADVISORY  WRITE 4711 fe:00:131 0 EOF". 0 where it holds none.
pid_t taker_of(const fs::path& descriptor) try {
  const auto text = read_text(descriptor.string());
  const auto at = text.find("FLOCK");
  int process = 0;
  if (at == std::string::npos) return 0;
  return std::sscanf(text.c_str() + at, "FLOCK ADVISORY WRITE %d", &process) == 1 ? process : 0;
} catch (const Error&) {  // the process has ended
  return 0;
}

/// The run folders whose lock a process has open, with the process that took it.
void add_runs_of(const fs::path& process, std::map<std::string, pid_t>& runs) {
  std::error_code gone;
  for (fs::directory_iterator at(process / "fd", gone), end; !gone && at != end;
       at.increment(gone)) {
    const auto target = fs::read_symlink(at->path(), gone);
    if (gone || !is_run_lock(target.string())) continue;
    const auto taker = taker_of(process / "fdinfo" / at->path().filename());
    if (taker > 0) runs.emplace(target.parent_path().string(), taker);
  }
}

}  // namespace

std::vector<RunningRun> running_runs() {
  std::map<std::string, pid_t> runs;
  std::error_code gone;
  for (fs::directory_iterator at("/proc", gone), end; !gone && at != end; at.increment(gone))
    if (parse_integer(at->path().filename().string())) add_runs_of(at->path(), runs);
  std::vector<RunningRun> all;
  for (const auto& [folder, process] : runs)
    if (holds_run(folder)) all.push_back({folder, process});
  return all;
}

pid_t process_of_run(const std::string& folder) {
  std::error_code unknown;
  const auto path = fs::canonical(folder, unknown);
  for (const auto& run : running_runs())
    if (run.folder == path) return run.process;
  return 0;
}

}  // namespace ddptrain
