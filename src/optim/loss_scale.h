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
  explicit LossScale(const LossScaleOptions& options = {})
      : options_(options), scale_(options.initial) {}

  double scale() const { return scale_; }
  const LossScaleOptions& options() const { return options_; }
  /// Since the last change; torch's growth_tracker.
  std::int64_t finite_steps() const { return finite_steps_; }

  /// After each step; a step that was not finite must not have moved the parameters.
  void update(bool finite);

  /// What a checkpoint keeps.
  struct State {
    double scale = 0;
    std::int64_t finite_steps = 0;
  };
  State state() const { return {scale_, finite_steps_}; }
  void load(const State& state) {
    scale_ = state.scale;
    finite_steps_ = state.finite_steps;
  }

 private:
  LossScaleOptions options_;
  double scale_;
  std::int64_t finite_steps_ = 0;
};

}  // namespace ddptrain
