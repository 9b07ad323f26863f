#include "distributed/control/rank_status.h"

#include <fmt/format.h>

#include <sstream>

#include "base/clock.h"
#include "base/text.h"
#include "distributed/control/rank_list.h"

namespace ddptrain {
namespace {

constexpr double kHangs = 3;  // seconds; less is work

std::string last_place(const RankStatus& status) {
  if (status.count < 0) return "before it joined the others";
  return fmt::format("in phase '{}' {}{}", status.phase,
                     status.step < 0 ? std::string("before the first step")
                                     : fmt::format("after step {}", status.step),
                     status.host.empty() ? "" : " on " + status.host);
}

/// ", nor of ranks 4, 5": the others that are silent too, a few of them.
std::string others(const std::vector<int>& ranks) {
  if (ranks.size() < 2) return {};
  return fmt::format(", nor of rank{} {}", ranks.size() > 2 ? "s" : "",
                     rank_list({ranks.begin() + 1, ranks.end()}));
}

Failure failure_of_rank(int rank, Exit code, const std::string& message) {
  return {rank, seconds_now(), code, message, {}};
}

}  // namespace

std::string to_text(const RankStatus& status) {
  std::ostringstream text;
  text << status.rank << ' ' << status.count << ' ' << status.step << ' ' << status.waits << ' '
       << status.lost_peer << ' ' << status.silent << ' '
       << (status.host.empty() ? "?" : status.host) << ' ' << status.phase;
  return text.str();
}

RankStatus status_of(const std::string& text) {
  RankStatus status;
  std::istringstream words(text);
  if (!(words >> status.rank >> status.count >> status.step >> status.waits >> status.lost_peer >>
        status.silent >> status.host))
    return {};
  std::getline(words >> std::ws, status.phase);
  return status;
}

std::string to_text(const std::vector<RankStatus>& statuses) {
  std::vector<std::string> lines;
  for (const auto& status : statuses) lines.push_back(to_text(status));
  return join(lines, "\n");
}

void read_statuses(const std::string& text, std::vector<RankStatus>& all) {
  for (const auto& line : split(text, '\n')) {
    auto status = status_of(line);
    if (status.rank < 0 || status.rank >= std::ssize(all)) continue;
    all[static_cast<std::size_t>(status.rank)] = std::move(status);
  }
}

std::vector<int> silent_ranks(const std::vector<RankStatus>& before,
                              const std::vector<RankStatus>& after) {
  std::vector<int> silent;
  for (std::size_t rank = 0; rank < after.size(); ++rank)
    if (!after[rank].lost_peer && after[rank].count == before[rank].count)
      silent.push_back(static_cast<int>(rank));
  return silent;
}

std::optional<Failure> missing_rank(const std::vector<RankStatus>& before,
                                    const std::vector<RankStatus>& after) {
  if (const auto gone = silent_ranks(before, after); !gone.empty())
    return failure_of_rank(gone[0], Exit::device,
                           "no sign of life since it was " +
                               last_place(after[static_cast<std::size_t>(gone[0])]) + others(gone) +
                               ": it was killed or suspended, or its node is lost");
  std::optional<std::size_t> hangs;
  for (std::size_t rank = 0; rank < after.size(); ++rank) {
    const auto &then = before[rank], &now = after[rank];
    const bool stays = !now.lost_peer && !now.waits && !then.waits && now.step == then.step &&
                       now.silent >= kHangs;
    if (stays && (!hangs || now.silent > after[*hangs].silent)) hangs = rank;
  }
  if (!hangs) return {};
  return failure_of_rank(
      static_cast<int>(*hangs), Exit::hang,
      fmt::format("no sign of life for {} {}, while the others wait for it (parallel.timeout)",
                  format_seconds(after[*hangs].silent), last_place(after[*hangs])));
}

Failure lost_server(const RankStatus& last, bool served_by_agent) {
  return failure_of_rank(
      0, Exit::device,
      fmt::format("no answer from {} (MASTER_ADDR): it was last seen {}; it was killed or "
                  "suspended, or its node is lost",
                  served_by_agent ? "torchrun on its node, which serves the meeting point"
                                  : "the meeting point, which it serves",
                  last_place(last)));
}

}  // namespace ddptrain
