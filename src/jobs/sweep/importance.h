// How much of what a sweep found each option explains.
#pragma once

#include <string>
#include <vector>

namespace ddptrain {

/// What one trial had as value of an option, and what came of it.
struct TrialOutcome {
  std::string value;  // as written
  double number = 0;  // of a range
  double metric = 0;
};

/// The share of the metric's variance between trials that the means of groups with the same value
/// explain: the correlation ratio (Fisher 1925, eta squared). Over a whole grid that is the
/// option's first-order share of a functional ANOVA (Hutter et al. 2014; Sobol' 1993). Values of a
/// range are grouped by their quartiles. Trials whose metric is NaN are left out. NaN where fewer
/// than two groups remain or all metrics are equal.
double explained_share(std::vector<TrialOutcome> trials, bool range);

}  // namespace ddptrain
