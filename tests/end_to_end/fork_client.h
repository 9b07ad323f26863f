// Programs that start as forks of one that has opened LibTorch already (tests/fork_server): most of
// the time of a small run is the start.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace ddptrain::end_to_end {

/// A start of the built program in a process group of its own, with stdin at its end.
struct Start {
  std::string folder, out, err;  // where it runs; files
  std::vector<std::string> words;
  std::map<std::string, std::string> environment;  // besides that of the test program
};

/// The process, a child of this one; 0 where no fork can be what an exec is: a variable that
/// libraries read while they are loaded is set, the kernel does not let /proc show what a fork
/// runs, or there is no server in this build (sanitizers). DDPTRAIN_EXEC=1 asks for that.
pid_t forked(const Start& start);

}  // namespace ddptrain::end_to_end
