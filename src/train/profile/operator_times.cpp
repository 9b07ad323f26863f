#include "train/profile/operator_times.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

#include "base/output/table_text.h"

namespace ddptrain {
namespace {

constexpr std::size_t kWidestName = 48;

/// An outer event comes before those within it.
bool comes_before(const TracedEvent& a, const TracedEvent& b) {
  return std::tuple(a.thread, a.begin, b.end) < std::tuple(b.thread, b.begin, a.end);
}

std::string fixed(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

std::vector<OperatorTime> slowest(std::vector<TracedEvent> events, std::size_t most) {
  std::stable_sort(events.begin(), events.end(), comes_before);
  std::map<std::string, OperatorTime> by_name;
  std::vector<const TracedEvent*> around;  // that are not over yet, the innermost last
  for (const auto& event : events) {
    while (!around.empty() &&
           (around.back()->thread != event.thread || around.back()->end <= event.begin))
      around.pop_back();
    auto& own = by_name[event.name];
    ++own.calls;
    own.self += event.end - event.begin;
    if (!around.empty())
      by_name[around.back()->name].self -= std::min(event.end, around.back()->end) - event.begin;
    around.push_back(&event);
  }
  std::vector<OperatorTime> all;
  for (auto& [name, time] : by_name) {
    all.push_back(time);
    all.back().name = name;
  }
  std::ranges::stable_sort(all, std::greater(), &OperatorTime::self);
  if (all.size() > most) all.resize(most);
  return all;
}

std::vector<std::string> to_lines(const std::vector<OperatorTime>& operators, std::uint64_t total,
                                  std::size_t columns) {
  std::vector<std::vector<std::string>> rows{{"operator", "calls", "self ms", "share"}};
  for (const auto& each : operators)
    rows.push_back({one_line(each.name, kWidestName), std::to_string(each.calls),
                    fixed("%.3f", static_cast<double>(each.self) / 1e6),
                    fixed("%.1f %%", 100 * static_cast<double>(each.self) /
                                         static_cast<double>(std::max<std::uint64_t>(total, 1)))});
  return table_lines(rows, columns);
}

}  // namespace ddptrain
