// The phases of training, as scopes that clocks, profilers and traces of memory see.
#pragma once

#include <ATen/record_function.h>

#include <array>
#include <cstddef>

#include "base/clock.h"

namespace ddptrain {

/// What a thread does at a time. `communication` is what it waits for: collectives that overlap
/// with the backward pass cost nothing more.
enum class Phase {
  loader,    // waits for a batch
  transfer,  // a batch to the device and into the model's type, colors normalized
  forward,   // with the loss
  backward,
  communication,  // between ranks or replicas
  optimizer,      // clipping and the optimizer's step
  evaluation,
  saving,
};
inline constexpr std::size_t kPhases = 8;
/// "loader", "transfer", ...
const char* name_of(Phase phase);

/// While it lives, is notified of the phases of the thread that made it. Phases nest.
class PhaseWatcher {
 public:
  PhaseWatcher();
  virtual ~PhaseWatcher();
  PhaseWatcher(const PhaseWatcher&) = delete;
  PhaseWatcher& operator=(const PhaseWatcher&) = delete;
  virtual void begin(Phase phase) = 0;
  virtual void end(Phase phase) = 0;

 private:
  friend class PhaseScope;
  friend class BorrowedWatchers;
  PhaseWatcher* next_;  // that was made before it in this thread
};

/// A phase while it lives. Profilers of LibTorch see it as a user scope. Without watchers and
/// profilers it does nothing.
class PhaseScope {
 public:
  explicit PhaseScope(Phase phase);
  ~PhaseScope();
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  Phase phase_;
  at::RecordFunction seen_{at::RecordScope::USER_SCOPE};
};

/// Watchers of one thread, which waits meanwhile, watch another while it lives.
class BorrowedWatchers {
 public:
  /// Those of the calling thread.
  static PhaseWatcher* of_this_thread();
  explicit BorrowedWatchers(PhaseWatcher* lent);
  ~BorrowedWatchers();
  BorrowedWatchers(const BorrowedWatchers&) = delete;
  BorrowedWatchers& operator=(const BorrowedWatchers&) = delete;

 private:
  PhaseWatcher* before_;
};

/// Seconds of the host's clock in each phase, an inner phase taken from the outer one; evaluation
/// and saving keep what is within them. On an accelerator the forward and backward pass and the
/// optimizer are what it costs to launch them.
class PhaseClock final : public PhaseWatcher {
 public:
  /// `now`: seconds on a clock that only runs forward.
  explicit PhaseClock(double (*now)() = seconds_now);
  void begin(Phase phase) override;
  void end(Phase phase) override;
  /// By phase; what was outside of all phases comes last. They sum to the time since it was made.
  std::array<double, kPhases + 1> seconds();

 private:
  void count();

  std::array<double, kPhases + 1> seconds_{};
  std::array<std::size_t, 16> under_way_{};  // the innermost last
  std::size_t depth_ = 0;
  double (*now_)();
  double last_ = now_();
};

}  // namespace ddptrain
