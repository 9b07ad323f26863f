// A run in a process of its own: a trial of a sweep, a short run of a verification.
#pragma once

#include <functional>
#include <string>

#include "base/files/scratch_folder.h"
#include "launch/failure.h"
#include "launch/rank_process.h"

namespace ddptrain {

/// A run that starts its ranks itself, in a child whose output goes to a file. What it throws goes
/// there too, and into a record.
class RunProcess {
 public:
  /// Forks. `train` returns the exit code; where `output` is empty, the file is gone with this.
  RunProcess(const std::function<int()>& train, const std::string& output, const sigset_t& signals);

  const ChildProcess& child() const { return process_; }
  ChildProcess& child() { return process_; }
  /// Once it has ended with a code that is no success: what it threw, else what why_ended() finds.
  Failure failure() const;

 private:
  ScratchFolder folder_;  // of its record
  std::string output_;
  RankProcess process_;
};

/// Why a run ended with an exit code that is no success: the last error that it wrote into the file
/// `output`, else what the code means.
std::string why_ended(int code, const std::string& output);

}  // namespace ddptrain
