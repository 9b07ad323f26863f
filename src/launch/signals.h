// Requests that come to a training process as signals.
#pragma once

#include <string>

namespace ddptrain {

/// While it lives, SIGTERM, SIGINT and SIGHUP ask this process to stop after the step, and SIGUSR1
/// to save and go on: the handlers only take notes. A second SIGINT leaves at once with 130. One at
/// a time in a process.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  /// The signal that asked to stop, 0: none.
  int stop_requested() const;
  /// True once for each time somebody asked.
  bool save_requested();
};

/// Started by `nohup` and the like, to go on without a terminal?
bool is_ignored(int signal);

/// "SIGTERM" for 15.
std::string signal_name(int signal);

}  // namespace ddptrain
