// One optimizer step: micro-batches to gradients, gradients to new weights.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "callbacks/callback.h"

namespace ddptrain {

class Decision;
class KeptBuffers;
class StepGraph;
struct NamedTensor;
struct RunState;
struct StepOutcome;
struct StepTotals;
struct Training;
struct WholeStep;

struct StepReport {
  double loss = 0;  // mean over the step's weight, all ranks
  double lr = 0;
  std::optional<double> momentum;
  std::optional<double> weight_decay;  // where a schedule moves it
  double gradient_norm = 0;  // of the mean, before clipping; NaN where neither logged nor clipped
  NamedValues group_norms;   // log.group_norms, on logged steps
  bool changed = true;       // false: no counted sample, or not finite and skipped
  bool data_lost = false;    // a rank has lost a mapped file: all is as it was before the step
  bool asked = false;        // a rank has a request for all
};

/// Where in the run a step is.
struct StepPlace {
  std::int64_t step = 0;  // made before it
  std::int64_t epoch = 0;
};

/// Makes steps in three parts: begin, finish, read. On an accelerator the first two only give it
/// work, and what the device decided is read while it works on the next step: begin, read (the step
/// before), finish. On the CPU finish() has decided when it returns. Order within a step: finite
/// check, unscale and ratio, clip, optimizer; then, when it is read, the average of the weights. A
/// step that one graph makes is given in begin(), with its average; where the run ends at a step
/// that is not finite, the device refuses all later ones by itself.
class Stepper {
 public:
  /// Shown the parameters with a step's gradients as the optimizer is about to take them, and the
  /// step's number, from 1; not by a step that a graph repeats.
  using GradientHook = std::function<void(const std::vector<NamedTensor>&, std::int64_t)>;

  /// Both outlive it. The state is that of the steps that were read; the caller moves its position.
  Stepper(const Training& training, RunState& state, GradientHook hook = {});
  ~Stepper();

  /// Takes the next `micro_steps` batches of the loader: forward and backward passes. The caller
  /// has entered the step's stage. Where a rank waits for a batch and the file of its samples was
  /// cut, all ranks go on alike.
  void begin(const StepPlace& at, std::int64_t micro_steps);
  /// Moves the weights by the step that was begun, once the one before was read. `asked`: this rank
  /// has a request for all.
  void finish(bool asked);
  /// Joins the other ranks in the end of a step that was begun, and leaves it out.
  void abandon();

  /// Is a step finished and not read?
  bool is_under_way() const;
  /// Does the host only wait for a step where it reads it?
  bool is_late() const;
  /// Throws an Error (Exit::non_finite) under policy `stop`, and on all ranks alike one
  /// (Exit::data) where the epoch has more bad samples than policy.bad_samples allows: later steps
  /// have not moved the weights.
  StepReport read();

 private:
  struct Step;
  const KeptBuffers& keep_buffers();
  void gather(Step& step, std::int64_t micro_steps);
  void await(const Step& step) const;
  void account(Step& step, const StepTotals& totals);
  void update_on_host(Step& step, double weight);
  void update_on_device(Step& step, bool asked);
  bool ends_unless_finite() const;
  void note_refusal(bool finite);
  void show_gradients(const Step& step) const;
  WholeStep whole(Step& step);
  StepOutcome make_whole(const Step& step);
  StepOutcome decide(const Step& step, bool asked, bool whole);

  const Training& t_;
  RunState& state_;
  const GradientHook hook_;
  std::unique_ptr<Decision> decision_;  // null on the CPU
  std::unique_ptr<StepGraph> graph_;    // null where nothing is captured
  std::unique_ptr<Step> begun_, finished_;
  std::unique_ptr<KeptBuffers> kept_, kept_before_;  // of this step and the one before
};

/// A whole step at the state's position, with a wait.
StepReport make_step(const Training& training, RunState& state, std::int64_t micro_steps);

}  // namespace ddptrain
