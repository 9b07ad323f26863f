#include "launch/signals.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

#include "base/error.h"
#include "base/output/log.h"
#include "base/output/print.h"
#include "base/output/terminal.h"

namespace ddptrain {
namespace {

// A handler can reach nothing but a global. The request is one number, so that no signal can come
// between its halves: microseconds of UTC times 128, plus the signal.
std::atomic<std::int64_t> stop_request{0};
std::atomic<bool> save_asked{false};
std::atomic<bool> ends_at_once{false};
static_assert(std::atomic<std::int64_t>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);

std::int64_t request_of(int signal) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return (std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000) * 128 + signal;
}

void end_by(int signal) {
  ::signal(signal, SIG_DFL);
  ::kill(::getpid(), signal);
}

// The first request stays.
void note_stop(int signal) {
  std::int64_t none = 0;
  const bool is_first = stop_request.compare_exchange_strong(none, request_of(signal));
  if (ends_at_once || (!is_first && signal == SIGINT)) end_by(signal);
}

void note_save(int) { save_asked = true; }

constexpr int kHeld[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGPIPE};

// By HeldSignals: those that were not blocked before.
sigset_t held_back{};

// What came while they were held back is taken at once.
void take_held() {
  sigset_t now, others;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
  others = without_held(now);
  if (::sigismember(&now, SIGPIPE) == 1) ::sigaddset(&others, SIGPIPE);  // stays blocked
  ::pthread_sigmask(SIG_SETMASK, &others, nullptr);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

Signals::Signals(Usr1 usr1) : ends_with_terminal_(!is_ignored(SIGPIPE)) {
  stop_request = 0;
  save_asked = false;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP})
    if (signal != SIGHUP || !is_ignored(SIGHUP)) handle(signal, note_stop);
  handle(SIGUSR1, usr1 == Usr1::stops ? note_stop : note_save);
  if (ends_with_terminal_) handle(SIGPIPE, SIG_IGN);  // the log reports it, sockets return an error
  take_held();
}

EndsAtOnce::EndsAtOnce() {
  ends_at_once = true;
  if (const auto request = stop_request.load(); request != 0)
    end_by(static_cast<int>(request % 128));
}

EndsAtOnce::~EndsAtOnce() { ends_at_once = false; }

Signals::~Signals() {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1})
    if (!is_ignored(signal)) handle(signal, SIG_DFL);
  if (ends_with_terminal_) handle(SIGPIPE, SIG_DFL);
  stop_request = 0;
}

StopRequest Signals::stop_requested() const {
  if (stop_request == 0 && ends_with_terminal_ && log::terminal_is_gone()) {
    note_stop(SIGPIPE);
    log::warning("the reader of stderr is gone (SIGPIPE): saving a checkpoint and ending");
  }
  if (stop_request == 0 && stdout_is_gone()) note_stop(SIGPIPE);  // what is printed is lost
  const std::int64_t request = stop_request;
  return {static_cast<int>(request % 128), static_cast<double>(request / 128) * 1e-6};
}

bool Signals::save_requested() { return save_asked.exchange(false); }

HeldSignals::HeldSignals() {
  sigset_t ours;
  ::sigemptyset(&ours);
  for (const int signal : kHeld) ::sigaddset(&ours, signal);
  ::pthread_sigmask(SIG_BLOCK, &ours, &before_);
  held_back = ours;
  for (const int signal : kHeld)
    if (::sigismember(&before_, signal) == 1) ::sigdelset(&held_back, signal);
}

HeldSignals::~HeldSignals() {
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  const timespec at_once{};
  if (::sigismember(&held_back, SIGPIPE) == 1) ::sigtimedwait(&pipe, nullptr, &at_once);
  ::sigemptyset(&held_back);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

sigset_t without_held(sigset_t mask) {
  for (const int signal : kHeld)
    if (::sigismember(&held_back, signal) == 1) ::sigdelset(&mask, signal);
  return mask;
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? "SIG" + std::string(name) : std::to_string(signal);
}

void send_signal(pid_t process, int signal) {
  if (::kill(process, signal) == 0 || errno == ESRCH) return;
  throw Error(Exit::data, "process {} takes no signal from here: {}", process, ::strerror(errno));
}

}  // namespace ddptrain
