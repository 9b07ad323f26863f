#include "distributed/used_parameters.h"

#include <algorithm>

#include "base/error.h"

namespace ddptrain {
namespace {

enum : std::int64_t { kRanksWithRows = kWindowNumbers, kRanksWithGradient };

bool all(const std::vector<bool>& used) { return std::ranges::count(used, false) == 0; }

void add_name(std::string& list, const std::string& name) {
  list += (list.empty() ? "'" : ", '") + name + "'";
}

}  // namespace

void UsedParameters::set_trained(std::vector<std::string> names) {
  names_ = std::move(names);
  first_used_.clear();
}

std::vector<double> UsedParameters::numbers(const HostCounts& counts, bool asked,
                                            const std::vector<bool>& used, bool saw_rows) const {
  auto numbers = counted(counts, asked);
  const bool strict = !rules_.static_graph && !rules_.find_unused_parameters;
  if (strict && saw_rows && !all(used)) numbers[kMissing - kLeftOut] = 1;
  numbers.push_back(saw_rows ? 1 : 0);
  numbers.insert(numbers.end(), used.begin(), used.end());
  return numbers;
}

std::vector<bool> UsedParameters::anywhere(const std::vector<bool>& here, const at::Tensor& sums) {
  auto used = here;
  if (!all(here)) {
    const auto host = sums.cpu();
    const double* at = host.const_data_ptr<double>();
    for (std::size_t i = 0; i < used.size(); ++i) used[i] = at[kRanksWithGradient + i] > 0;
    if (at[kRanksWithRows] == 0 || at[kDataLost] > 0) return used;
  }
  if (rules_.static_graph) require_the_same(used);
  return used;
}

void UsedParameters::require_all(const at::Tensor& sums) const {
  const double* at = sums.const_data_ptr<double>();
  if (at[kMissing] == 0) return;
  std::string unused;
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (at[kRanksWithGradient + i] < at[kRanksWithRows]) add_name(unused, names_[i]);
  throw Error(Exit::recipe,
              "parameters received no gradient on some rank: {}; "
              "'parallel.ddp.find_unused_parameters: true' allows it",
              unused);
}

void UsedParameters::require_the_same(const std::vector<bool>& used) {
  if (first_used_.empty()) first_used_ = used;
  std::string changed;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i] != first_used_[i]) add_name(changed, names_[i]);
  if (changed.empty()) return;
  throw Error(Exit::recipe,
              "parameters are not used as in the first step: {}; 'parallel.ddp.static_graph: "
              "false' allows it",
              changed);
}

}  // namespace ddptrain
