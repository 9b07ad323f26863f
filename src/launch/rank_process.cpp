#include "launch/rank_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/output/log.h"
#include "launch/failure.h"

namespace ddptrain {
namespace {

void redirect(int to, const char* path, int flags) {
  const int file = ::open(path, flags | O_CLOEXEC, 0666);
  if (file < 0) return;
  ::dup2(file, to);
  ::close(file);
}

void take_streams(const std::string& log) {
  redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  // Its group is never in the foreground: without this, `stty tostop` would suspend it.
  ::signal(SIGTTOU, SIG_IGN);
  if (log.empty()) return;
  redirect(STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND);
  ::dup2(STDOUT_FILENO, STDERR_FILENO);
}

int guarded(const RankProcess::Main& main, const Topology& topology, bool shares_terminal) {
  report_what_no_one_catches(topology);
  try {
    return main(topology);
  } catch (...) {
    const auto failure = failure_of(std::current_exception(), topology.rank);
    report_failure(topology, failure);
    // It shares the terminal with the launcher, which is about to say it.
    if (!shares_terminal) log::error(failure.message, failure.place);
    return static_cast<int>(failure.code);
  }
}

}  // namespace

RankProcess::RankProcess(const Topology& topology, const Main& main, const std::string& log,
                         const sigset_t& signals)
    : ChildProcess({fmt::format("rank {}", topology.rank), Tie::own_group, signals,
                    [&] {
                      take_streams(log);
                      return guarded(main, topology, log.empty());
                    }}),
      rank_(topology.rank) {}

}  // namespace ddptrain
