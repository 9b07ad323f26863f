// Which trial trains next, and how far: the Asynchronous Successive Halving Algorithm (Li et al.,
// "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020, algorithm 2).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ddptrain {

/// A trial that trains up to a rung, from the rung below. Both count from 0.
struct TrialJob {
  std::int64_t trial = 0;
  std::int64_t rung = 0;
  auto operator<=>(const TrialJob&) const = default;
};

/// The rungs of finitely many trials, and what came of them so far.
class Rungs {
 public:
  /// Each trial that is promoted leaves `factor` - 1 behind, about.
  Rungs(std::int64_t trials, std::int64_t rungs, std::int64_t factor);

  /// Larger is better; NaN is worse than any number, and never promoted.
  void add(const TrialJob& job, double value);
  /// What a worker that is free does next (get_job of the paper): the best trial of the highest
  /// rung that may go on, else a fresh trial; nothing where there is neither.
  std::optional<TrialJob> next_job();
  /// When all is done: where no trial has reached the last rung, as happens to few trials, the best
  /// of those that came furthest goes on. Nothing where there is none, or no need.
  std::optional<TrialJob> take_winner();

 private:
  std::optional<std::int64_t> best_waiting(std::size_t rung) const;
  std::optional<std::int64_t> promotable(std::size_t rung) const;

  std::int64_t trials_;
  std::int64_t factor_;
  std::int64_t fresh_ = 0;
  std::vector<std::vector<std::pair<double, std::int64_t>>> done_;  // of each rung, best first
  std::vector<std::set<std::int64_t>> promoted_;                    // of each rung
};

/// How trials are compared. `lengths` are those of the rungs, as parts of the whole; one rung alone
/// is trained by every trial.
struct HalvingPlan {
  std::int64_t trials = 0;
  std::vector<double> lengths{1};
  std::int64_t factor = 3;
  int workers = 1;
};

/// The rungs that a smallest length makes, as a part of the whole: min, min x factor, ..., 1.
std::vector<double> rung_lengths(double min, std::int64_t factor);

/// What came of a job, larger is better, NaN where it failed; nothing: not known yet.
using JobValue = std::function<std::optional<double>(const TrialJob&)>;

/// The jobs to be trained now, at most one for each worker; none: the sweep is done. Workers go by
/// a clock that counts steps instead of seconds, so that every decision follows from the values
/// alone: whatever the machine does meanwhile, the same sweep takes the same decisions.
std::vector<TrialJob> jobs_under_way(const HalvingPlan& plan, const JobValue& value);

}  // namespace ddptrain
