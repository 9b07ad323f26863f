#include "jobs/sweep/importance.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace ddptrain {
namespace {

constexpr std::size_t kQuantiles = 4;

struct GroupOfTrials {
  double sum = 0;
  double count = 0;
};

/// Each number's quartile as its value; equal numbers share one.
void group_by_quartiles(std::vector<TrialOutcome>& trials) {
  std::stable_sort(trials.begin(), trials.end(), [](const TrialOutcome& a, const TrialOutcome& b) {
    return a.number < b.number;
  });
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const bool same = i > 0 && trials[i].number == trials[i - 1].number;
    trials[i].value = same ? trials[i - 1].value : std::to_string(i * kQuantiles / trials.size());
  }
}

}  // namespace

double explained_share(std::vector<TrialOutcome> trials, bool range) {
  std::erase_if(trials, [](const TrialOutcome& trial) { return std::isnan(trial.metric); });
  if (range) group_by_quartiles(trials);
  std::map<std::string, GroupOfTrials> groups;
  GroupOfTrials all;
  for (const auto& trial : trials)
    for (auto* group : {&groups[trial.value], &all}) {
      group->sum += trial.metric;
      group->count += 1;
    }
  if (groups.size() < 2) return std::nan("");
  const double mean = all.sum / all.count;
  double between = 0, total = 0;
  for (const auto& [value, group] : groups)
    between += group.count * std::pow(group.sum / group.count - mean, 2);
  for (const auto& trial : trials) total += std::pow(trial.metric - mean, 2);
  return total > 0 ? between / total : std::nan("");
}

}  // namespace ddptrain
