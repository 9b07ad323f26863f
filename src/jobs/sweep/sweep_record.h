// The state of a sweep: its folder, and what came of each run so far.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/sweep/asha.h"

namespace ddptrain {

/// A run of a trial on one of its seeds, up to a rung.
struct RunKey {
  TrialJob job;
  std::int64_t seed = 0;  // from 0
  auto operator<=>(const RunKey&) const = default;
};

/// What came of it. Values are those of the metric that decides; NaN where there is none.
struct RunValue {
  RunKey key;
  int code = 0;      // exit code of the run
  double value = 0;  // by the rule of runs/run_scores.h
  double best = 0;   // the best of all its evaluations
  std::int64_t best_step = 0;
  std::int64_t steps = 0;  // that the run has made in all
  bool ended = false;      // nothing is left to train
  std::string error;       // of a run that failed
};

/// Whether the run has a result, so that it is not tried again.
bool has_result(const RunValue& value);

/// FOLDER/sweep.json. Each change is on disk when a call returns; a file that was cut does not
/// exist.
class SweepRecord {
 public:
  /// Reads what is there; runs that failed are forgotten, so that they are tried again.
  explicit SweepRecord(std::string folder);

  const std::string& folder() const { return folder_; }
  const std::vector<RunValue>& values() const { return values_; }
  const RunValue* find(const RunKey& key) const;
  void add(RunValue value);
  /// The next sweep of the same recipe begins another folder.
  void finish();

  /// "FOLDER/003", or "FOLDER/003-2" of the second of several seeds: an ordinary run folder.
  std::string run_folder(const RunKey& key, std::int64_t seeds) const;
  /// What the run writes to stdout and stderr.
  std::string output_file(const RunKey& key, std::int64_t seeds) const;

 private:
  void write() const;

  std::string folder_;
  std::string recipe_digest_;
  bool done_ = false;
  std::vector<RunValue> values_;
};

/// The folder of the newest sweep of the same recipe that is not done, or a new one,
/// `runs`/NAME/sweep-NNN with recipe.yaml. The recipe is the same where it is `written` so,
/// whatever the machine makes of it. Safe where several processes ask at once.
std::string sweep_folder(const std::string& runs, const std::string& name,
                         const std::string& written, const std::string& recipe_text);

}  // namespace ddptrain
