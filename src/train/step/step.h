// One optimizer step: micro-batches to gradients, gradients to new weights.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "callbacks/callback.h"
#include "distributed/step_totals.h"

namespace ddptrain {

struct NamedTensor;
struct RunState;
struct Training;

struct StepReport {
  StepTotals totals;
  double lr = 0;
  std::optional<double> momentum;
  std::optional<double> weight_decay;                               // where a schedule moves it
  double gradient_norm = std::numeric_limits<double>::quiet_NaN();  // of the mean, before clipping;
                                                                    // where logged or clipped
  NamedValues group_norms;  // log.group_norms, on logged steps

  /// Whether the step moved the weights.
  bool changed() const { return is_made(totals); }
  /// The mean over the step's weight, all ranks; NaN without weight.
  double loss() const;
};

/// Where in the run a step is.
struct StepPlace {
  std::int64_t step = 0;  // made before it
  std::int64_t epoch = 0;
};

/// Makes steps in three parts: begin, finish, read. A step of the host (host_step.cpp) is over when
/// finish() returns. One of an accelerator (device_step.cpp) is only queued by the first two, and
/// read while the device computes the next one: begin, read (the step before), finish. Either way
/// the order within a step is: passes, reduction, finite check, scale and clip, optimizer, average
/// of the weights.
class Stepper {
 public:
  /// Shown the parameters with a step's gradients on rank 0 as the optimizer is about to take them,
  /// and the step's number, from 1; not by a step that a graph repeats.
  using GradientHook = std::function<void(const std::vector<NamedTensor>&, std::int64_t)>;

  virtual ~Stepper() = default;
  /// Takes the next `micro_steps` batches of the loader: forward and backward passes. The caller
  /// has entered the step's stage. Where a rank waits for a batch and the file of its samples was
  /// cut, all ranks take part with empty ones.
  virtual void begin(const StepPlace& at, std::int64_t micro_steps) = 0;
  /// Moves the weights by the step that was begun, once the one before was read. `asked`: this rank
  /// has a request for all.
  virtual void finish(bool asked) = 0;
  /// Joins the other ranks in the end of a step that was begun, and leaves it out.
  virtual void abandon() = 0;
  /// What the finished step did; account() (train/step/account.h) then notes it.
  virtual StepReport read() = 0;

  /// Is a step finished and not read?
  virtual bool is_under_way() const = 0;
  /// Does the host only wait for a step where it reads it?
  virtual bool is_late() const = 0;
};

/// For the device of the model. Both outlive it; it only reads the state.
std::unique_ptr<Stepper> make_stepper(Training& training, const RunState& state,
                                      Stepper::GradientHook hook = {});

/// A whole step at the state's position, with a wait; the state is that after it.
StepReport make_step(Training& training, RunState& state, std::int64_t micro_steps);

}  // namespace ddptrain
