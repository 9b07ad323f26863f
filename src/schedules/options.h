// Options that schedules share: a rise to the first rate, the rate they fall to, and whose variant
// is meant.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/names.h"
#include "schedules/schedule.h"

namespace ddptrain {

/// How a rate falls and, run backwards, how it rises (decay_type and warmup_type of transformers'
/// get_wsd_schedule).
enum class Slope { linear, cosine, one_minus_sqrt };
std::span<const std::string_view> names(Slope);
/// From 1 where `done` is 0 to 0 where it is 1.
double falling(Slope slope, double done);
/// From 0 to 1: the same slope from its end.
inline double rising(Slope slope, double done) { return falling(slope, 1 - done); }

/// Options that every schedule has.
struct Warmup {
  std::optional<Duration> warmup;
  double warmup_start = 0.01;
  Slope warmup_type = Slope::linear;
  void fields(Fields& f);
  /// Factor of the rate after `done` of 0 .. 1 of the warm-up.
  double factor(double done) const {
    return warmup_start + (1 - warmup_start) * rising(warmup_type, done);
  }
};

/// The rate that a schedule falls to.
struct Floor {
  double min_lr = 0;
  std::optional<double> min_lr_ratio;
  void fields(Fields& f);
  /// Of a schedule that begins at `lr`.
  double of(double lr) const { return min_lr_ratio ? *min_lr_ratio * lr : min_lr; }
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
inline std::span<const std::string_view> names(Peer) { return kNameList<"torch", "fastai">; }

}  // namespace ddptrain
