#include "launch/ending.h"

#include <fmt/format.h>
#include <signal.h>

#include <tuple>

#include "launch/signals.h"

namespace ddptrain {
namespace {

auto precedence(const Ending& ending) {
  const double when = ending.failure ? ending.failure->seconds : ending.seconds;
  // A rank that was killed is noticed after the peers that fell over it have left records.
  const bool shot = ending.killed_by != 0 && ending.killed_by != SIGABRT;
  return std::tuple(ending.ended_by_us, is_secondary(ending), !shot, when);
}

std::string death_by(int signal) {
  auto text = fmt::format("was killed by signal {} ({})", signal, signal_name(signal));
  if (signal == SIGKILL) return text + "; if no process sent it, the kernel ran out of memory";
  if (signal == SIGBUS) return text + "; a full /dev/shm or a truncated file can be the reason";
  return text;
}

}  // namespace

bool is_orderly(const Ending& ending, int forwarded_signal) {
  if (ending.failure || ending.killed_by) return false;
  return ending.code == 0 || ending.code == static_cast<int>(Exit::expect) ||
         (forwarded_signal != 0 && ending.code == 128 + forwarded_signal);
}

bool is_secondary(const Ending& ending) { return ending.failure && ending.failure->secondary; }

const Ending* first_cause(const std::vector<Ending>& endings, int forwarded_signal) {
  const Ending* first = nullptr;
  for (const auto& ending : endings) {
    if (is_orderly(ending, forwarded_signal)) continue;
    if (!first || precedence(ending) < precedence(*first)) first = &ending;
  }
  return first;
}

std::string describe(const Ending& ending) {
  const auto who = fmt::format("rank {}", ending.rank);
  if (ending.failure) return who + ": " + ending.failure->message;
  if (ending.killed_by) return who + " " + death_by(ending.killed_by);
  return fmt::format("{} exited with {}", who, ending.code);
}

}  // namespace ddptrain
