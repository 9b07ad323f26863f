#include "jobs/sweep/asha.h"

#include <algorithm>
#include <cmath>

namespace ddptrain {
namespace {

/// A job that a worker has begun, and when it ends.
struct Begun {
  TrialJob job;
  double ends = 0;
};

/// Without rungs no trial depends on another: the first without a result are next.
std::vector<TrialJob> whole_runs(const HalvingPlan& plan, const JobValue& value) {
  std::vector<TrialJob> jobs;
  for (std::int64_t trial = 0; trial < plan.trials && std::ssize(jobs) < plan.workers; ++trial)
    if (!value({trial, 0})) jobs.push_back({trial, 0});
  return jobs;
}

double steps_of(const HalvingPlan& plan, const TrialJob& job) {
  const auto rung = static_cast<std::size_t>(job.rung);
  return plan.lengths.at(rung) - (rung > 0 ? plan.lengths[rung - 1] : 0);
}

std::vector<TrialJob> unknown(const std::vector<Begun>& begun, const JobValue& value) {
  std::vector<TrialJob> jobs;
  for (const auto& [job, ends] : begun)
    if (!value(job)) jobs.push_back(job);
  return jobs;
}

}  // namespace

Rungs::Rungs(std::int64_t trials, std::int64_t rungs, std::int64_t factor)
    : trials_(trials),
      factor_(factor),
      done_(static_cast<std::size_t>(rungs)),
      promoted_(static_cast<std::size_t>(rungs)) {}

void Rungs::add(const TrialJob& job, double value) {
  auto& rung = done_.at(static_cast<std::size_t>(job.rung));
  const auto better = [](const auto& a, const auto& b) {
    if (std::isnan(a.first) || std::isnan(b.first)) return !std::isnan(a.first);
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  const std::pair entry{value, job.trial};
  const auto at = std::find_if(rung.begin(), rung.end(),
                               [&](const auto& other) { return !better(other, entry); });
  rung.insert(at, entry);
}

std::optional<std::int64_t> Rungs::promotable(std::size_t rung) const {
  const auto& done = done_[rung];
  for (std::size_t i = 0; i < done.size() / static_cast<std::size_t>(factor_); ++i)
    if (!std::isnan(done[i].first) && !promoted_[rung].contains(done[i].second))
      return done[i].second;
  return {};
}

std::optional<TrialJob> Rungs::next_job() {
  for (std::size_t rung = done_.size() - 1; rung-- > 0;) {
    const auto trial = promotable(rung);
    if (!trial) continue;
    promoted_[rung].insert(*trial);
    return TrialJob{*trial, static_cast<std::int64_t>(rung) + 1};
  }
  if (fresh_ == trials_) return {};
  return TrialJob{fresh_++, 0};
}

std::optional<std::int64_t> Rungs::best_waiting(std::size_t rung) const {
  for (const auto& [value, trial] : done_[rung])
    if (!std::isnan(value) && !promoted_[rung].contains(trial)) return trial;
  return {};
}

std::optional<TrialJob> Rungs::take_winner() {
  const auto arrived = [](const auto& entry) { return !std::isnan(entry.first); };
  if (std::any_of(done_.back().begin(), done_.back().end(), arrived)) return {};
  for (std::size_t rung = done_.size() - 1; rung-- > 0;)
    if (const auto trial = best_waiting(rung)) {
      promoted_[rung].insert(*trial);
      return TrialJob{*trial, static_cast<std::int64_t>(rung) + 1};
    }
  return {};
}

std::vector<double> rung_lengths(double min, std::int64_t factor) {
  std::vector<double> lengths;
  for (double length = min; length < 1 - 1e-9; length *= static_cast<double>(factor))
    lengths.push_back(length);
  lengths.push_back(1);
  return lengths;
}

std::vector<TrialJob> jobs_under_way(const HalvingPlan& plan, const JobValue& value) {
  if (plan.lengths.size() == 1) return whole_runs(plan, value);
  Rungs rungs(plan.trials, std::ssize(plan.lengths), plan.factor);
  std::vector<Begun> begun;  // in the order in which they began
  for (double now = 0;;) {
    while (std::ssize(begun) < plan.workers) {
      auto job = rungs.next_job();
      if (!job && begun.empty()) job = rungs.take_winner();
      if (!job) break;
      begun.push_back({*job, now + steps_of(plan, *job)});
    }
    if (begun.empty()) return {};
    const auto first =
        std::min_element(begun.begin(), begun.end(), [](const Begun& a, const Begun& b) {
          return a.ends < b.ends;  // of equal ones that which began first
        });
    const auto found = value(first->job);
    if (!found) return unknown(begun, value);
    now = first->ends;
    rungs.add(first->job, *found);
    begun.erase(first);
  }
}

}  // namespace ddptrain
