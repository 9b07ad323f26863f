#include "launch/signals.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

namespace ddptrain {
namespace {

// A handler can reach nothing but a global.
std::atomic<int> stop_signal{0};
std::atomic<bool> save_asked{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void note_stop(int signal) {
  if (signal == SIGINT && stop_signal != 0) ::_exit(128 + SIGINT);
  stop_signal = signal;
}

void note_save(int) { save_asked = true; }

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

Signals::Signals() {
  stop_signal = 0;
  save_asked = false;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP})
    if (signal != SIGHUP || !is_ignored(SIGHUP)) handle(signal, note_stop);
  handle(SIGUSR1, note_save);
}

Signals::~Signals() {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1})
    if (!is_ignored(signal)) handle(signal, SIG_DFL);
}

int Signals::stop_requested() const { return stop_signal; }

bool Signals::save_requested() { return save_asked.exchange(false); }

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? "SIG" + std::string(name) : std::to_string(signal);
}

}  // namespace ddptrain
