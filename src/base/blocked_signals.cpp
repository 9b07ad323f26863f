#include "base/blocked_signals.h"

namespace ddptrain {

BlockedSignals::BlockedSignals() {
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}

BlockedSignals::~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace ddptrain
