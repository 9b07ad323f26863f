// The same recipe on several seeds or folds, and how far that has come.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runs/run_record.h"

namespace ddptrain {

struct SeriesRun;

/// Which folders the runs of one repetition have, in order of their seeds or folds. It
/// stands in `runs`/NAME/repeat.json until the last is done, so that the same command goes on where
/// it was cut.
class Repetition {
 public:
  /// Takes up what was begun for the same recipe (of the first run, resolved) and count, up to the
  /// first folder that is gone: a run that failed to start leaves none.
  Repetition(const std::string& runs, const std::string& name, std::string recipe_text,
             std::int64_t count);

  const std::vector<std::string>& folders() const { return folders_; }
  void add(const std::string& folder);
  /// Writes `runs`/NAME/folds.csv or seeds.csv (members_csv), whole, over that of an earlier
  /// series. Returns its path.
  std::string write_table(const std::string& kind, const std::vector<SeriesRun>& members) const;
  /// Forgets the record: the next repetition starts empty.
  void finish() const;

 private:
  std::string path_;
  std::string recipe_text_;
  std::int64_t count_;
  std::vector<std::string> folders_;
};

/// One run of a repetition. A run that did not end with an evaluation has no metrics.
struct SeriesRun {
  std::string name;  // "42" of seeds, "1" of folds
  RunRecord run;
};

/// A row per run under its `kind`, "seed" or "fold", then mean and standard deviation (n - 1) over
/// those that have metrics, for the first eight metrics; in lines of at most `columns` (0: any
/// width).
std::string members_table(const std::string& kind, const std::vector<SeriesRun>& members,
                          std::size_t columns = 0);

/// The same of each run's best evaluation, with its step, under a line that says by what; empty
/// where none has one.
std::string best_members_table(const std::string& kind, const std::vector<SeriesRun>& members,
                               std::size_t columns = 0);

/// Both tables as CSV, of all metrics and with every digit: a row per run, then "mean" and
/// "deviation", under `kind`, "run" (its folder), the last evaluation's metrics, and those of the
/// best one as "best/step", "best/valid/loss". What a run lacks is an empty cell.
std::string members_csv(const std::string& kind, const std::vector<SeriesRun>& members);

}  // namespace ddptrain
