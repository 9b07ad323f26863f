// How far to go: rate and momentum at every step, as arithmetic without torch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "config/catalog.h"

namespace ddptrain {

/// Where a run stands: `step` optimizer steps were made of `total`; an epoch has `per_epoch` of
/// them (>= 1).
struct Progress {
  std::int64_t step = 0;
  std::int64_t total = 1;
  std::int64_t per_epoch = 1;
};

/// What a schedule is built for: the optimizer's own rate and momentum.
struct ScheduleContext {
  double lr = 0;
  std::optional<double> momentum;
};

class Schedule {
 public:
  using Make = std::unique_ptr<Schedule>(const ScheduleContext&);
  virtual ~Schedule() = default;
  /// The rate of the step that is about to be made.
  virtual double lr(const Progress& at) const = 0;
  /// The momentum of that step; empty leaves the optimizer's own.
  virtual std::optional<double> momentum(const Progress&) const { return {}; }
};

template <>
const Catalog<Schedule>& catalog<Schedule>();

}  // namespace ddptrain
