#include "launch/child_process.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "base/clock.h"
#include "base/error.h"
#include "base/files/files.h"

namespace ddptrain {
namespace {

// A parent that ignores it would have the kernel collect our children.
void collect_children_ourselves() { ::signal(SIGCHLD, SIG_DFL); }

// The parent may have died before prctl took effect: then no signal would come.
void tie_to(pid_t parent, Tie tie) {
  if (tie == Tie::own_group) ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, tie == Tie::own_group ? SIGKILL : SIGTERM);
  if (::getppid() != parent) ::_exit(static_cast<int>(Exit::device));
}

int code_of(const std::function<int()>& work) {
  try {
    return work();
  } catch (...) {
    return static_cast<int>(Exit::bug);
  }
}

[[noreturn]] void be_the_child(const ForkedWork& forked, pid_t parent) {
  tie_to(parent, forked.tie);
  ::pthread_sigmask(SIG_SETMASK, &forked.signals, nullptr);
  const int code = code_of(forked.work);
  std::fflush(nullptr);
  ::_exit(code);
}

}  // namespace

ChildProcess::ChildProcess(const ForkedWork& forked) : leads_group_(forked.tie == Tie::own_group) {
  collect_children_ourselves();
  const pid_t parent = ::getpid();
  std::fflush(nullptr);
  pid_ = ::fork();
  if (pid_ < 0)
    throw Error(Exit::device, "cannot start {}: {} (fork)", forked.name, std::strerror(errno));
  if (pid_ == 0) be_the_child(forked, parent);
  if (leads_group_) ::setpgid(pid_, pid_);  // both sides do: whichever runs first
}

ChildProcess::ChildProcess(const ProgramStart& program) {
  collect_children_ourselves();
  auto words = program.words;
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_adddup2(&streams, program.input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&streams, program.output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&streams, program.errors, STDERR_FILENO);
  const int failed =
      posix_spawnp(&pid_, arguments[0], &streams, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&streams);
  if (failed != 0) throw std::system_error(failed, std::generic_category());
}

ChildProcess::~ChildProcess() {
  send(SIGKILL);
  wait();
}

bool ChildProcess::reap() { return collect(WNOHANG); }

void ChildProcess::wait() {
  while (running_ && !collect(0)) {
  }
}

bool ChildProcess::collect(int flags) {
  int status = 0;
  if (!running_ || ::waitpid(pid_, &status, flags) != pid_) return false;
  running_ = false;
  ended_at_ = seconds_now();
  killed_by_ = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  code_ = killed_by_ ? 128 + killed_by_ : WEXITSTATUS(status);
  return true;
}

void ChildProcess::send(int signal) const {
  if (!running_) return;
  if (leads_group_ && ::kill(-pid_, signal) == 0) return;
  ::kill(pid_, signal);
}

bool ChildProcess::is_stopped() const {
  try {
    const auto stat = read_text(fmt::format("/proc/{}/stat", pid_));
    const auto name_end = stat.rfind(')');
    return name_end + 2 < stat.size() && (stat[name_end + 2] == 'T' || stat[name_end + 2] == 't');
  } catch (const Error&) {
    return false;  // it ended meanwhile
  }
}

void adopt_descendants() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

void wait_for_descendants() {
  while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
  }
}

}  // namespace ddptrain
