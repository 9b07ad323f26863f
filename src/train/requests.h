// What the ranks of a run were asked to do by signals and by the clock of rank 0.
#pragma once

#include <cstddef>
#include <functional>

#include "distributed/group.h"
#include "launch/signals.h"

namespace ddptrain {

/// Requests of one rank, or of all after they have agreed.
struct Requests {
  StopRequest stop;         // save and leave
  bool save = false;        // a checkpoint now
  bool save_local = false;  // one on the disks of the nodes
  bool evaluate = false;    // an evaluation now
  bool time_up = false;     // the run's duration is over
  bool data_lost = false;   // a mapped file was cut: save and fail

  bool any() const {
    return stop.signal != 0 || save || save_local || evaluate || time_up || data_lost;
  }
  /// Asks for what `other` asks, too; of two stop signals the first one counts.
  void add(const Requests& other);
};

/// What any rank was asked is asked of all. Of several stop signals the first one counts. All
/// members call it together.
Requests agree(Group& group, const Requests& mine);

/// Agreement on a stop request between ranks that work at different speeds: a vote that begins in
/// one round is counted in the next, so no rank waits for one that is less than a round behind.
class StopVote {
 public:
  explicit StopVote(Group& group) : group_(group) {}
  /// Whether a rank was asked to stop before it began its round before this one: the same in this
  /// round on all ranks.
  bool next(bool asked);
  /// Counts the vote under way. To be called where no round follows.
  bool last();

 private:
  Group& group_;
  at::Tensor asked_;
  std::unique_ptr<Pending> pending_;
};

/// Calls `round(i)` for i = 0 .. rounds - 1, on all members together. False, on all alike, where
/// they left early: one was `asked` to stop (asked before every round; may be empty), or `round`
/// failed since a mapped file was cut.
bool in_rounds(Group& group, std::size_t rounds, const std::function<bool()>& asked,
               const std::function<void(std::size_t)>& round);

/// Where a member lost a mapped file, the Error (Exit::data) that names it, on all members, which
/// call it together.
[[noreturn]] void fail_without_data(Group& group);

}  // namespace ddptrain
