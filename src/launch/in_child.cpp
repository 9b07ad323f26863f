#include "launch/in_child.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "launch/signals.h"

namespace ddptrain {
namespace {

void write_all(int to, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const auto count = ::write(to, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) ::_exit(static_cast<int>(Exit::bug));
    if (count > 0) done += static_cast<std::size_t>(count);
  }
}

/// While it lives, requests to stop wait to be passed on.
class StopRequests {
 public:
  StopRequests() {
    ::sigemptyset(&asked_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
      if (!is_ignored(signal)) ::sigaddset(&asked_, signal);
    ::pthread_sigmask(SIG_BLOCK, &asked_, &before_);
    file_ = ::signalfd(-1, &asked_, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~StopRequests() {
    if (file_ >= 0) ::close(file_);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    if (taken_ != 0) ::raise(taken_);
  }
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;

  int file() const { return file_; }
  void restore() const { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  /// A terminal sends its signals to the child as well.
  void pass_on(pid_t child) {
    signalfd_siginfo about{};
    while (::read(file_, &about, sizeof about) == static_cast<ssize_t>(sizeof about)) {
      taken_ = static_cast<int>(about.ssi_signo);
      if (about.ssi_code != SI_KERNEL) ::kill(child, taken_);
    }
  }

 private:
  sigset_t asked_{}, before_{};
  int file_ = -1;
  int taken_ = 0;
};

std::string read_all(int from, pid_t child, StopRequests& requests) {
  std::string text;
  std::array<char, 4096> buffer;
  std::array<pollfd, 2> watched{{{from, POLLIN, 0}, {requests.file(), POLLIN, 0}}};
  while (true) {
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;  // EINTR
    if (watched[1].revents != 0) requests.pass_on(child);
    if (watched[0].revents == 0) continue;
    const auto count = ::read(from, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

[[noreturn]] void be_the_child(int to, const std::function<std::string()>& work) {
  try {
    write_all(to, work());
  } catch (...) {
    ::_exit(static_cast<int>(Exit::bug));  // what a person may see, work() returns
  }
  std::fflush(nullptr);
  ::_exit(0);
}

}  // namespace

std::string in_child(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0)
    throw Error(Exit::device, std::string("cannot make a pipe: ") + std::strerror(errno));
  std::fflush(nullptr);
  StopRequests requests;
  const auto parent = ::getpid();
  const auto child = ::fork();
  if (child < 0)
    throw Error(Exit::device, std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    ::close(ends[0]);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(static_cast<int>(Exit::device));
    requests.restore();
    be_the_child(ends[1], work);
  }
  ::close(ends[1]);
  auto text = read_all(ends[0], child, requests);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    throw Error(Exit::memory, "the process was killed, as happens where memory ends");
  if (status != 0) throw Error(Exit::bug, "a bug in ddptrain: the process that looked ended early");
  return text;
}

}  // namespace ddptrain
