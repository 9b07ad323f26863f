// What a step gives an accelerator to compute, in three parts. Nothing here waits for the device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "optim/optimizer.h"

namespace ddptrain {

class Decision;
struct Batch;
struct MicroStep;
struct Training;

/// What the host knows of a step when it gives it to the device.
struct StepInputs {
  std::int64_t step = 0;  // made before it
  double nominal = 1;
  Rates rates{};
  bool norm_is_wanted = false;  // of the gradients, for a log
  bool may_run_ahead = false;   // the step before it was read, or runs ahead itself
};

/// What the device decided on a step.
struct StepOutcome {
  at::Tensor numbers;      // of the window (distributed/window_numbers.h), then group_norms()
  at::Tensor refused;      // Rates::refused
  bool has_norm = false;   // the numbers have that of the gradients
  bool clips = false;      // by that norm, which is known at every step then
  std::int64_t count = 0;  // of the window's numbers
  bool is_whole = false;   // update() was part of it
};

class StepWork {
 public:
  virtual ~StepWork() = default;
  /// A window of so many micro-batches begins.
  virtual void begin(const StepInputs& inputs, std::int64_t micro_steps) = 0;
  /// Forward and backward pass of one of them.
  virtual void pass(const Batch& batch, const MicroStep& at) = 0;
  /// Reduction, finite check, scale and clip.
  virtual StepOutcome decide(const StepInputs& inputs, bool asked) = 0;
  /// The optimizer's step, unless the outcome is whole.
  virtual void update(const StepInputs& inputs, const StepOutcome& outcome) = 0;
  /// Whether the step that was begun runs ahead: pass() has given all of it to the device.
  virtual bool runs_ahead() const { return false; }
};

/// Calls LibTorch's operators one by one.
class EagerWork final : public StepWork {
 public:
  /// Both outlive it.
  EagerWork(Training& training, Decision& decision);
  void begin(const StepInputs& inputs, std::int64_t micro_steps) override;
  void pass(const Batch& batch, const MicroStep& at) override;
  StepOutcome decide(const StepInputs& inputs, bool asked) override;
  void update(const StepInputs& inputs, const StepOutcome& outcome) override;

  /// decide(), with whatever else capture_rest() and its like compute: a kernel that is first used
  /// within a capture would be loaded there.
  StepOutcome decide_as_captured(const StepInputs& inputs, bool asked);
  /// decide(), the optimizer's step and the average of the weights, to be captured. The same for
  /// every step; one that is not finite refuses all later ones where it ends the run.
  StepOutcome capture_rest(const StepInputs& inputs);

 private:
  StepOutcome decide(const StepInputs& inputs, bool asked, bool ahead);

  Training& t_;
  Decision& decision_;
};

/// Whether a step that is not finite ends the run.
bool ends_unless_finite(Training& training, const Decision& decision);

}  // namespace ddptrain
