// How much of a sweep's result each option explains.
#include <algorithm>
#include <cmath>

#include "report/html.h"
#include "report/section.h"

namespace ddptrain {
namespace {

std::string importance(const SweepResults& sweep) {
  auto shares = sweep.importance;
  std::erase_if(shares, [](const auto& share) { return !std::isfinite(share.second); });
  if (shares.empty()) return {};
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  HtmlTable table{{"option", "share"}, {}, {false, true}};
  for (const auto& [key, share] : shares)
    table.rows.push_back({name_html(key), share_html(std::clamp(share, 0.0, 1.0))});
  return to_html(table) + "<p class=\"note\">The share of the variance of " +
         name_html(sweep.metric) +
         " between trials that an option explains by itself, where all of them had been trained "
         "equally long (correlation ratio). The rest is what options do together, "
         "and chance.</p>\n";
}

}  // namespace

SweepSection importance_section() { return {"importance", "Importance", importance}; }

}  // namespace ddptrain
