// A loss that a person can follow: what the status line shows.
#pragma once

#include <cmath>
#include <cstdint>

namespace ddptrain {

/// Exponential moving average without the bias of its start (fastai.learner.AvgSmoothLoss).
class SmoothLoss {
 public:
  explicit SmoothLoss(double beta = 0.98) : beta_(beta) {}

  void add(double loss) {
    ++count_;
    average_ = beta_ * average_ + (1 - beta_) * loss;
  }
  /// NaN before the first loss.
  double value() const { return average_ / (1 - std::pow(beta_, static_cast<double>(count_))); }

 private:
  double beta_;
  double average_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace ddptrain
