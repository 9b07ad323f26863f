// Which learning rate suits a run: rates that grow at every step, and what the losses say of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "schedules/schedule.h"

namespace ddptrain {

/// fastai.learner.Learner.lr_find with its defaults.
struct LrFindOptions {
  double start = 1e-7;
  double end = 10;
  std::int64_t steps = 100;  // at least 6, as there
  bool stop = true;          // once the smoothed loss is above four times its best
};

/// The rate of step s (from 0) is start * (end / start)^(s / steps), whatever the run's own length.
std::unique_ptr<Schedule> lr_finder_schedule(const LrFindOptions& options);

/// Rates and smoothed losses of the steps that were made.
struct LrCurve {
  std::vector<double> rates;
  std::vector<double> losses;
};

/// What suggestions are made from: without the first tenth of the steps and the last five, and only
/// up to the first loss that is not finite. A curve that ended in NaN counts as if it had gone on,
/// as fastai's does.
LrCurve trusted_part(const LrCurve& curve, std::int64_t steps);

/// Empty where the curve is too short: slide needs 16 points, steep two, the others one.
struct LrSuggestions {
  std::optional<double> valley;   // two thirds into the longest stretch of falling losses
  std::optional<double> slide;    // where, coming from the right, the slope settles
  std::optional<double> minimum;  // a tenth of the rate of the smallest loss
  std::optional<double> steep;    // where the loss falls fastest per factor of the rate
};

/// valley, slide, minimum and steep of fastai.callback.schedule, in float32 as there, so that close
/// calls fall alike.
LrSuggestions suggest_rates(const LrCurve& curve);

}  // namespace ddptrain
