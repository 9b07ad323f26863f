#include "launch/in_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "launch/child_process.h"
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
  }
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;

  int file() const { return file_; }
  int asked() const { return taken_; }  // 0: nothing
  const sigset_t& of_children() const { return before_; }

  /// A terminal sends its signals to the child as well.
  void pass_on(const ChildProcess& child) {
    signalfd_siginfo about{};
    while (::read(file_, &about, sizeof about) == static_cast<ssize_t>(sizeof about)) {
      taken_ = static_cast<int>(about.ssi_signo);
      if (about.ssi_code != SI_KERNEL) child.send(taken_);
    }
  }

 private:
  sigset_t asked_{}, before_{};
  int file_ = -1;
  int taken_ = 0;
};

std::string read_all(int from, const ChildProcess& child, StopRequests& requests) {
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

}  // namespace

Answer answer_of_child(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(Exit::device, std::string("cannot make a pipe: ") + std::strerror(errno));
  StopRequests requests;
  ChildProcess child({"a process", Tie::our_group, requests.of_children(), [&] {
                        ::close(ends[0]);
                        write_all(ends[1], work());
                        return 0;
                      }});
  ::close(ends[1]);
  auto text = read_all(ends[0], child, requests);
  ::close(ends[0]);
  child.wait();
  return {std::move(text), child.code(), requests.asked()};
}

std::string in_child(const std::function<std::string()>& work) {
  auto answer = answer_of_child(work);
  if (answer.asked != 0) ::raise(answer.asked);
  if (answer.code == 128 + SIGKILL)
    throw Error(Exit::memory, "the process was killed, as happens where memory ends");
  if (answer.code != 0)
    throw Error(Exit::bug, "a bug in ddptrain: the process that looked ended early");
  return std::move(answer.text);
}

}  // namespace ddptrain
