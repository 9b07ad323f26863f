#include "distributed/phases.h"

#include "base/error.h"

namespace ddptrain {
namespace {

thread_local PhaseWatcher* newest_watcher = nullptr;

}  // namespace

const char* name_of(Phase phase) {
  static constexpr std::array<const char*, kPhases> names{
      "loader",        "transfer",  "forward",    "backward",
      "communication", "optimizer", "evaluation", "saving"};
  return names[static_cast<std::size_t>(phase)];
}

PhaseWatcher::PhaseWatcher() : next_(newest_watcher) { newest_watcher = this; }

PhaseWatcher::~PhaseWatcher() {
  auto** link = &newest_watcher;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
}

PhaseScope::PhaseScope(Phase phase) : phase_(phase) {
  if (seen_.isActive()) seen_.before(name_of(phase));
  for (auto* watcher = newest_watcher; watcher; watcher = watcher->next_) watcher->begin(phase);
}

PhaseScope::~PhaseScope() {
  for (auto* watcher = newest_watcher; watcher; watcher = watcher->next_) watcher->end(phase_);
}

PhaseWatcher* BorrowedWatchers::of_this_thread() { return newest_watcher; }

BorrowedWatchers::BorrowedWatchers(PhaseWatcher* lent) : before_(newest_watcher) {
  newest_watcher = lent;
}

BorrowedWatchers::~BorrowedWatchers() { newest_watcher = before_; }

PhaseClock::PhaseClock(double (*now)()) : now_(now) {}

void PhaseClock::count() {
  const double now = now_();
  seconds_[depth_ == 0 ? kPhases : under_way_[depth_ - 1]] += now - last_;
  last_ = now;
}

void PhaseClock::begin(Phase phase) {
  count();
  DDP_CHECK(depth_ < under_way_.size(), "phases nest deeper than there is room for");
  const auto outer = depth_ == 0 ? Phase::loader : static_cast<Phase>(under_way_[depth_ - 1]);
  const bool kept = outer == Phase::evaluation || outer == Phase::saving;
  under_way_[depth_++] = static_cast<std::size_t>(kept ? outer : phase);
}

void PhaseClock::end(Phase) {
  count();
  --depth_;
}

std::array<double, kPhases + 1> PhaseClock::seconds() {
  count();
  return seconds_;
}

}  // namespace ddptrain
