#include "schedules/curve.h"

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/names.h"

namespace ddptrain {

std::span<const std::string_view> names(Anneal) {
  return kNameList<"constant", "linear", "cosine", "exponential", "polynomial">;
}

double Curve::at(double position) const {
  switch (anneal) {
    case Anneal::constant:
      return start;
    case Anneal::linear:
      return start + position * (end - start);
    case Anneal::cosine:
      return start + (1 + std::cos(std::numbers::pi * (1 - position))) * (end - start) / 2;
    case Anneal::exponential:
      return start * std::pow(end / start, position);
    case Anneal::polynomial:
      return start + (end - start) * std::pow(position, power);
  }
  return start;
}

JoinedCurves::JoinedCurves(const std::vector<double>& shares, std::vector<Curve> curves)
    : breaks_{0}, curves_(std::move(curves)) {
  DDP_CHECK(!curves_.empty() && shares.size() == curves_.size(), "one share for each curve");
  double sum = 0;  // torch.cumsum adds float32 values in double on the CPU
  for (const double share : shares) {
    sum += static_cast<float>(share);
    breaks_.push_back(static_cast<float>(sum));
  }
}

double JoinedCurves::at(double position) const {
  const auto p = static_cast<float>(position);
  std::size_t i = curves_.size() - 1;
  while (i > 0 && p < breaks_[i]) --i;
  const float length = breaks_[i + 1] - breaks_[i];
  return curves_[i].at(length > 0 ? (p - breaks_[i]) / length : 1);
}

JoinedCurves two_cosines(double share, double start, double middle, double end) {
  return JoinedCurves({share, 1 - share},
                      {{Anneal::cosine, start, middle}, {Anneal::cosine, middle, end}});
}

}  // namespace ddptrain
