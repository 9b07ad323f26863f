// The short runs of a verification: each one trained once, in a child process, in a folder that is
// removed.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "base/files/scratch_folder.h"
#include "jobs/verify/short_run.h"
#include "launch/signal_relay.h"

namespace ddptrain {

/// Thrown where a signal asked the verification to stop: no process of it is left.
struct Interrupted {
  int signal = 0;
};

class ShortRuns {
 public:
  ShortRuns(ShortRunPlan plan, const Arguments& arguments);
  const ShortRunPlan& plan() const { return plan_; }

  /// The folder of a run that was trained from the beginning until step `until`. An Error as the
  /// run's own where it fails.
  std::string trained(const RunCut& cut, std::int64_t until);
  /// The same of a run that continues from the newest checkpoint of the run in `from`.
  std::string resumed(const RunCut& cut, std::int64_t until, const std::string& from);
  /// The folder of a run from the beginning that keeps the gradients of its steps.
  std::string kept(const RunCut& cut, std::int64_t until);
  /// The same of one on a single rank that takes them in place of its own.
  std::string following(const RunCut& cut, std::int64_t until, const std::string& kept);
  /// The same of one that follows itself, with weights that are shaken (follow_gradients).
  std::string shaken(const RunCut& cut, std::int64_t until);
  /// The folder with the scores of the newest checkpoint of the run in `from`.
  std::string scored(const RunCut& cut, const std::string& from);
  /// Removes what was trained so far: precisions are verified one after the other.
  void forget();

 private:
  /// A cut, the last step, and what it continues from or scores.
  using Key = std::tuple<RunCut, std::int64_t, std::string>;
  using Work = std::function<int(const ShortRun&)>;
  std::string made(const Key& key, const Work& work);
  void run_in_child(const std::function<int()>& work);

  ShortRunPlan plan_;
  const Arguments& arguments_;
  const ScratchFolder folder_;
  SignalRelay signals_{SIGTSTP};
  std::map<Key, std::string> made_;
  int count_ = 0;  // of the folders made so far
};

}  // namespace ddptrain
