// The runs that go on, on this machine: whose processes hold the lock of a run folder.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace ddptrain {

struct RunningRun {
  std::string folder;  // absolute
  pid_t process = 0;   // that began it and watches its ranks: a signal to it asks all of them
};

/// Those whose processes this user may look at, by folder.
std::vector<RunningRun> running_runs();

/// The process of a run folder; 0 where none works in it, or it is of another user or on another
/// machine.
pid_t process_of_run(const std::string& folder);

}  // namespace ddptrain
