#include "distributed/rank_status.h"

#include <fmt/format.h>

#include <sstream>

#include "base/clock.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr double kHangs = 3;  // seconds; less is work

std::string last_place(const RankStatus& status) {
  if (status.count < 0) return "before it joined the others";
  return "in phase '" + status.phase + "' " +
         (status.step < 0 ? std::string("before the first step")
                          : fmt::format("after step {}", status.step)) +
         (status.host.empty() ? "" : " on " + status.host);
}

/// "; nor of ranks 4, 5": the others that are silent too, a few of them.
std::string others(const std::vector<std::size_t>& ranks) {
  constexpr std::size_t kShown = 8;
  if (ranks.size() < 2) return {};
  std::string text;
  for (std::size_t i = 1; i < ranks.size() && i <= kShown; ++i)
    text += (i > 1 ? ", " : "") + std::to_string(ranks[i]);
  if (ranks.size() > kShown + 1) text += ", ...";
  return ", nor of rank" + std::string(ranks.size() > 2 ? "s " : " ") + text;
}

Failure failure_of_rank(std::size_t rank, Exit code, const std::string& message) {
  return {static_cast<int>(rank), seconds_now(), code, message, {}};
}

}  // namespace

std::string to_text(const RankStatus& status) {
  std::ostringstream text;
  text << status.count << ' ' << status.step << ' ' << status.waits << ' ' << status.lost_peer
       << ' ' << status.silent << ' ' << (status.host.empty() ? "?" : status.host) << ' '
       << status.phase;
  return text.str();
}

RankStatus status_of(const std::string& text) {
  RankStatus status;
  std::istringstream words(text);
  if (!(words >> status.count >> status.step >> status.waits >> status.lost_peer >> status.silent >>
        status.host))
    return {};
  std::getline(words >> std::ws, status.phase);
  return status;
}

std::optional<Failure> missing_rank(const std::vector<RankStatus>& before,
                                    const std::vector<RankStatus>& after) {
  std::vector<std::size_t> gone;
  std::optional<std::size_t> hangs;
  for (std::size_t rank = 0; rank < after.size(); ++rank) {
    const auto &then = before[rank], &now = after[rank];
    if (now.lost_peer) continue;
    if (now.count == then.count) gone.push_back(rank);
    const bool stays = !now.waits && !then.waits && now.step == then.step && now.silent >= kHangs;
    if (stays && (!hangs || now.silent > after[*hangs].silent)) hangs = rank;
  }
  if (!gone.empty())
    return failure_of_rank(gone[0], Exit::device,
                           "no sign of life since it was " + last_place(after[gone[0]]) +
                               others(gone) + ": it was killed or suspended, or its node is lost");
  if (!hangs) return {};
  return failure_of_rank(*hangs, Exit::hang,
                         "no sign of life for " + format_seconds(after[*hangs].silent) + " " +
                             last_place(after[*hangs]) +
                             ", while the others wait for it (parallel.timeout)");
}

Failure lost_server(const RankStatus& last, bool served_by_agent) {
  return failure_of_rank(
      0, Exit::device,
      "no answer from " +
          std::string(served_by_agent ? "torchrun on its node, which serves the meeting point"
                                      : "the meeting point, which it serves") +
          " (MASTER_ADDR): it was last seen " + last_place(last) +
          "; it was killed or suspended, or its node is lost");
}

}  // namespace ddptrain
