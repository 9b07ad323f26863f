// Which learning rate suits a run: rates that grow at every step, and what the losses say of them.
#include "optim/lr_finder.h"

#include <algorithm>
#include <cmath>

#include "schedules/curve.h"

namespace ddptrain {
namespace {

using Floats = std::vector<float>;

class LrFinderSchedule final : public Schedule {
 public:
  explicit LrFinderSchedule(const LrFindOptions& options)
      : curve_{Anneal::exponential, options.start, options.end},
        steps_(static_cast<double>(options.steps)) {}
  double lr(const Progress& at) const override {
    return curve_.at(static_cast<double>(at.step) / steps_);
  }

 private:
  Curve curve_;
  double steps_;
};

std::size_t smallest(const Floats& values) {
  return static_cast<std::size_t>(std::min_element(values.begin(), values.end()) - values.begin());
}

double valley(const Floats& rates, const Floats& losses) {
  const auto n = static_cast<std::int64_t>(losses.size());
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  std::vector<std::int64_t> length(losses.size(), 1);  // of the falling sequence that ends there
  std::int64_t start = 0, end = 0;
  for (std::int64_t i = 1; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) {
      if (losses[at(i)] < losses[at(j)]) length[at(i)] = std::max(length[at(i)], length[at(j)] + 1);
      if (length[at(i)] <= length[at(end)]) continue;
      end = i;
      start = end - length[at(end)];
    }
  const double third = static_cast<double>(end - start) / 3;
  auto index = start + static_cast<std::int64_t>(third) + static_cast<std::int64_t>(third / 2);
  if (index < 0) index += n;  // Python counts from the end
  return rates[at(index)];
}

/// numpy.gradient: central differences, one-sided at both ends.
Floats gradient(const Floats& values) {
  const std::size_t last = values.size() - 1;
  Floats slopes(values.size());
  slopes[0] = values[1] - values[0];
  slopes[last] = values[last] - values[last - 1];
  for (std::size_t i = 1; i < last; ++i) slopes[i] = (values[i + 1] - values[i - 1]) / 2;
  return slopes;
}

constexpr std::size_t kSlideWidth = 15;
constexpr float kSlideThreshold = .005F;

double slide(const Floats& rates, const Floats& losses) {
  const auto slopes = gradient(losses);
  std::size_t left = losses.size() - 1 - kSlideWidth;
  double found = rates[left];
  while (std::abs(slopes[left + kSlideWidth] - slopes[left]) > kSlideThreshold) {
    found = rates[left];
    if (left == 0) break;
    --left;
  }
  return found;
}

double steep(const Floats& rates, const Floats& losses) {
  Floats slopes;
  for (std::size_t i = 0; i + 1 < losses.size(); ++i)
    slopes.push_back((losses[i + 1] - losses[i]) / (std::log(rates[i + 1]) - std::log(rates[i])));
  return rates[smallest(slopes)];
}

}  // namespace

std::unique_ptr<Schedule> lr_finder_schedule(const LrFindOptions& options) {
  return std::make_unique<LrFinderSchedule>(options);
}

LrCurve trusted_part(const LrCurve& curve, std::int64_t steps) {
  const auto made = static_cast<std::int64_t>(curve.losses.size());
  const auto bad = std::find_if(curve.losses.begin(), curve.losses.end(),
                                [](double loss) { return !std::isfinite(loss); });
  const auto finite = static_cast<std::int64_t>(bad - curve.losses.begin());
  const bool went_on = bad != curve.losses.end() && std::isnan(*bad);
  const auto end = std::max<std::int64_t>(0, std::min(finite, (went_on ? steps : made) - 5));
  const auto begin = std::min(steps / 10, end);
  return {{curve.rates.begin() + begin, curve.rates.begin() + end},
          {curve.losses.begin() + begin, curve.losses.begin() + end}};
}

LrSuggestions suggest_rates(const LrCurve& curve) {
  const Floats rates(curve.rates.begin(), curve.rates.end());
  const Floats losses(curve.losses.begin(), curve.losses.end());
  LrSuggestions found;
  if (losses.empty()) return found;
  found.valley = valley(rates, losses);
  found.minimum = static_cast<double>(rates[smallest(losses)]) / 10;
  if (losses.size() >= 2) found.steep = steep(rates, losses);
  if (losses.size() > kSlideWidth) found.slide = slide(rates, losses);
  return found;
}

}  // namespace ddptrain
