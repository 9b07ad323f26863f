// Threads that leave signals to the main one.
#pragma once

#include <csignal>

namespace ddptrain {

/// While it lives, this thread and the threads that it starts block all signals except SIGBUS,
/// which reports to the reader of a mapped file that the file was truncated.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace ddptrain
