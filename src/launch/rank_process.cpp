#include "launch/rank_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "launch/failure.h"

namespace ddptrain {
namespace {

// The parent may have died before prctl was heard: then nobody would kill us.
void die_with(pid_t launcher) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(static_cast<int>(Exit::device));
}

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
    : rank_(topology.rank) {
  const pid_t launcher = ::getpid();
  std::fflush(nullptr);
  pid_ = ::fork();
  if (pid_ < 0)
    throw Error(Exit::device, "cannot start rank " + std::to_string(rank_) + ": " +
                                  std::strerror(errno) + " (fork)");
  if (pid_ > 0) {
    ::setpgid(pid_, pid_);  // both sides say so: whoever comes first
    return;
  }
  ::setpgid(0, 0);
  die_with(launcher);
  take_streams(log);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  const int code = guarded(main, topology, log.empty());
  std::fflush(nullptr);
  ::_exit(code);
}

bool RankProcess::reap() { return collect(WNOHANG); }

void RankProcess::wait() {
  while (running_ && !collect(0)) {
  }
}

bool RankProcess::collect(int flags) {
  int status = 0;
  if (!running_ || ::waitpid(pid_, &status, flags) != pid_) return false;
  running_ = false;
  ended_at_ = seconds_now();
  killed_by_ = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  code_ = killed_by_ ? 128 + killed_by_ : WEXITSTATUS(status);
  return true;
}

void RankProcess::send(int signal) const {
  if (running_ && ::kill(-pid_, signal) != 0) ::kill(pid_, signal);
}

bool RankProcess::is_stopped() const {
  try {
    const auto stat = read_text("/proc/" + std::to_string(pid_) + "/stat");
    const auto name_end = stat.rfind(')');
    return name_end + 2 < stat.size() && (stat[name_end + 2] == 'T' || stat[name_end + 2] == 't');
  } catch (const Error&) {
    return false;  // it ended meanwhile
  }
}

}  // namespace ddptrain
