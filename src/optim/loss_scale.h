// The factor that keeps float16 gradients above zero: torch.amp.GradScaler's arithmetic.
#pragma once

#include <cstdint>

namespace ddptrain {

struct LossScaleOptions {
  double initial = 65536;
  double growth = 2;
  double backoff = 0.5;
  std::int64_t growth_interval = 2000;
};

/// Grows after `growth_interval` finite steps in a row, backs off after each that is not finite.
class LossScale {
 public:
  /// What a checkpoint keeps.
  struct State {
    double scale = 1;
    std::int64_t finite_steps = 0;  // since the last change, torch's growth_tracker
  };

  explicit LossScale(const LossScaleOptions& options = {})
      : options_(options), state_{options.initial, 0} {}

  double scale() const { return state_.scale; }
  /// After each step; a step that was not finite must not have moved the parameters.
  void update(bool finite);

  const State& state() const { return state_; }
  void load(const State& state) { state_ = state; }

 private:
  LossScaleOptions options_;
  State state_;
};

}  // namespace ddptrain
