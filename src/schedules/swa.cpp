#include "schedules/swa.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ddptrain {
namespace {

double share(const SwaRate& rate, std::int64_t steps) {
  if (rate.anneal == SwaAnneal::none) return 1;
  const double t = std::min(
      1.0, static_cast<double>(steps) / static_cast<double>(std::max<std::int64_t>(1, rate.over)));
  return rate.anneal == SwaAnneal::linear ? t : (1 - std::cos(std::numbers::pi * t)) / 2;
}

class SwaSchedule final : public Schedule {
 public:
  SwaSchedule(std::unique_ptr<Schedule> schedule, const SwaRate& rate)
      : schedule_(std::move(schedule)), rate_(rate) {}

  double lr(const Progress& at) const override {
    if (at.step < rate_.start) return schedule_->lr(at);
    const double before = schedule_->lr({rate_.start, at.total, at.per_epoch});
    const double to = share(rate_, at.step - rate_.start);
    return rate_.lr * to + before * (1 - to);
  }
  std::optional<double> momentum(const Progress& at) const override {
    return schedule_->momentum(at);
  }

 private:
  std::unique_ptr<Schedule> schedule_;
  SwaRate rate_;
};

}  // namespace

std::unique_ptr<Schedule> swa_schedule(std::unique_ptr<Schedule> schedule, const SwaRate& rate) {
  return std::make_unique<SwaSchedule>(std::move(schedule), rate);
}

}  // namespace ddptrain
