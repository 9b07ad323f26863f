// The same recipe on several seeds, and how far that has come.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "callbacks/callback.h"
#include "train/run/best_evaluation.h"

namespace ddptrain {

/// Which folders the runs of one repetition have, in order of their seeds. It stands in
/// `runs`/NAME/repeat.json until the last is done, so that the same command goes on where it was
/// cut.
class Repetition {
 public:
  /// Takes up what was begun for the same recipe (of the first seed, resolved) and count, up to the
  /// first folder that is gone: a run that failed to start leaves none.
  Repetition(const std::string& runs, const std::string& name, std::string recipe_text,
             std::int64_t count);

  const std::vector<std::string>& folders() const { return folders_; }
  void add(const std::string& folder);
  /// Forgets the record: the next repetition begins anew.
  void finish() const;

 private:
  std::string path_;
  std::string recipe_text_;
  std::int64_t count_;
  std::vector<std::string> folders_;
};

/// What one seed came to; no metrics where its run did not end with an evaluation.
struct SeedResult {
  std::int64_t seed = 0;
  NamedValues metrics;                      // of the last evaluation
  std::optional<BestEvaluation> best = {};  // empty: nothing says which one is better
};

/// A row per seed, then mean and standard deviation (n - 1) over the seeds that have metrics, for
/// the first eight metrics.
std::string seeds_table(const std::vector<SeedResult>& results);

/// The same of each seed's best evaluation, with its step, under a line that says by what; empty
/// where no seed has one.
std::string best_seeds_table(const std::vector<SeedResult>& results);

}  // namespace ddptrain
