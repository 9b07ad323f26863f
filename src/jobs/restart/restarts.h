// Ranks that start again from the newest checkpoint after one of them failed (parallel.restarts,
// policy.on_rank_failure).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "jobs/start.h"
#include "train/run/rank.h"

namespace ddptrain {

/// How often a recipe lets ranks start again; nothing: without a limit.
std::optional<std::int64_t> most_restarts(const Recipe& recipe);

/// Decides after each failure.
class Restarts {
 public:
  enum class Answer {
    no,       // a cause that would come again: a mistake, a loss that is not finite, a request
    used_up,  // as often as they may
    stuck,    // starts save nothing new
    again
  };

  /// Of ranks that begin from `checkpoint`. `on_nodes`: failures of ranks on other nodes are
  /// Exit::device here, whatever they were.
  Restarts(std::optional<std::int64_t> most, std::optional<std::string> checkpoint, bool on_nodes);

  /// After an exit with `code` that leaves `newest`. A start that saved nothing new is repeated
  /// once where a process died or hung, otherwise never.
  Answer after(int code, const std::optional<std::string>& newest);

  std::int64_t count() const { return count_; }
  /// "restart 1 of 3"
  std::string in_words() const;

 private:
  std::optional<std::int64_t> most_;
  std::optional<std::string> checkpoint_;
  bool on_nodes_;
  bool was_stuck_ = false;
  std::int64_t count_ = 0;
};

/// Runs the ranks of a job, again after failures, and returns the last exit code. Of several nodes
/// each process per node starts its ranks again, and all meet again.
int run_with_restarts(Job job, const Topology& outer,
                      const std::function<RankMain(const Job&)>& one_rank, log::Level level);

}  // namespace ddptrain
