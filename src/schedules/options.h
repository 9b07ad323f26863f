// Options that schedules share: a line up to the first rate, and whose variant is meant.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "schedules/schedule.h"

namespace ddptrain {

/// Options that every schedule has.
struct Warmup {
  std::optional<Duration> warmup;
  double warmup_start = 0.01;
  void fields(Fields& f);
};

/// The schedule itself, or one that comes after a warm-up: then its own steps, and its share of the
/// run, begin when the warm-up ends (torch's SequentialLR of LinearLR and the schedule).
std::unique_ptr<Schedule> after_warmup(const Warmup& warmup, std::unique_ptr<Schedule> schedule);

/// The entry of a schedule whose class takes (Options, ScheduleContext) and whose options have a
/// member `warmup`.
template <class S>
Entry<Schedule> schedule_entry(std::string name, std::string doc,
                               std::vector<std::string> traits = {}) {
  using Options = typename S::Options;
  return entry<Schedule, Options>(
      std::move(name), std::move(doc),
      [](const Options& options, const ScheduleContext& context) {
        return after_warmup(options.warmup, std::make_unique<S>(options, context));
      },
      std::move(traits));
}

/// Whose variant of a schedule is meant, where torch and fastai differ.
enum class Peer { torch, fastai };
inline std::span<const std::string_view> names(Peer) {
  static constexpr std::array<std::string_view, 2> words{"torch", "fastai"};
  return words;
}

}  // namespace ddptrain
