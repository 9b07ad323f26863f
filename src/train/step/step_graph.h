// Steps that are alike, captured once and repeated by the device itself.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "accelerator/graph.h"
#include "distributed/engine.h"

namespace ddptrain {

class Accelerator;
struct Training;

/// What a device has decided on a step.
struct StepOutcome {
  at::Tensor numbers;      // of the window (distributed/window_numbers.h)
  at::Tensor refused;      // Rates::refused
  bool has_norm = false;   // the numbers have that of the gradients
  bool clips = false;      // by that norm, which is known at every step then
  bool moved = false;      // the optimizer's step and the average were made too
  std::int64_t count = 0;  // of the window's numbers; those of group_norms() follow
};

/// A step that one graph can make, from the passes to the average of the weights.
struct WholeStep {
  /// Optimizer::captured_kind(); empty: one graph cannot make it.
  std::optional<std::int64_t> kind{};
  /// Whether it may be given to the device before the step under way is read.
  bool now = false;
  /// What follows the passes on the device, to be captured.
  std::function<StepOutcome()> rest{};
  /// What the host has to do before each replay.
  std::function<void()> bring{};
};

/// Makes a step of one micro-batch: the forward and backward pass with the reduction of its
/// gradients, what comes before the optimizer's step, and where one graph can make all of it, that
/// and the average too. After a few steps that are alike it captures one; from then on such a step
/// is one launch, or one for the passes and one for what comes before the optimizer's step, and
/// other steps are made as ever. The same bits either way.
class StepGraph {
 public:
  /// The training outlives it. An Error (Exit::recipe) where `train.graph: true` cannot be.
  explicit StepGraph(const Training& training);
  ~StepGraph();

  /// Engine::begin() and accumulate(), or all of a whole step, at the latest in end(). An Error
  /// (Exit::recipe) under `train.graph: true` where the step cannot be captured; under `auto` that
  /// is logged once, and steps are made without a graph.
  void pass(const Batch& batch, MicroStep at, WholeStep whole = {});
  /// What comes after the passes up to the optimizer's step, `work`: another graph repeats it where
  /// one has repeated the passes. There is one for steps whose norm is wanted, one for others.
  /// Nothing is left to do where the step was made as a whole.
  StepOutcome end(bool asked, bool norm_is_wanted, const std::function<StepOutcome()>& work);
  /// Whether a whole step was given to the device that end() was not called for.
  bool has_made_whole() const { return outcome_.moved; }
  /// A step was made without a graph: once they are warm, says why, if that will not change.
  void note_eager_step();

 private:
  /// All that a captured pass took from the host.
  using Likeness = std::vector<std::int64_t>;
  struct Waiting {
    Batch batch;
    MicroStep at;
    WholeStep whole;
  };
  bool can_be_repeated(const Batch& batch, const MicroStep& at, const WholeStep& whole);
  Likeness likeness_of(const Batch& batch, const MicroStep& at) const;
  void compute(const Batch& batch, const MicroStep& at);
  bool is_due(const Likeness& likeness);
  bool is_captured() const { return graph_ && captured_ == likeness_ && captured_kind_ == kind_; }
  void make_whole();
  std::string capture(const Batch& batch, const DeviceWork& work);
  bool capture_passes(const Batch& batch, const MicroStep& at);
  bool capture_whole(const Waiting& step);
  struct Ending {
    StepOutcome outcome;  // that a replay leaves behind
    std::unique_ptr<DeviceGraph> graph;
  };
  void capture(Ending& ending, const std::function<StepOutcome()>& work);
  void bring(const Batch& batch);
  void bring(MicroStep& at);
  std::string too_little_memory() const;
  void refuse(const std::string& why);

  const Training& t_;
  const Accelerator& accelerator_;
  at::Device device_;
  bool required_;                          // `train.graph: true`
  std::string obstacle_;                   // that stands before the first step; empty: none
  bool refused_ = false;                   // steps cannot be captured
  std::vector<at::Tensor> weights_;        // and buffers
  at::Tensor step_there_, loss_gradient_;  // what a graph reads besides the batch
  Batch batch_;                            // too
  std::int64_t step_known_ = -1;           // what step_there_ is; -1: unknown
  Likeness likeness_, last_, captured_;    // of the step under way, the one before, the graph
  std::optional<std::int64_t> kind_, captured_kind_;  // WholeStep::kind, likewise
  int alike_ = 0, eager_ = 0;  // steps like the one before; steps in a row without a graph
  PassResults results_;        // that a replay leaves behind
  std::unique_ptr<DeviceGraph> graph_;
  bool repeated_ = false;           // the passes of the step under way
  bool ends_on_host_ = false;       // ends of steps cannot be captured
  bool splits_ = false;             // steps cannot be captured as a whole
  std::optional<Waiting> waiting_;  // the whole step that was not made yet
  StepOutcome outcome_;             // of the whole step under way, if it has moved
  std::array<Ending, 2> endings_;   // [norm_is_wanted]
};

/// Null on the CPU and with `train.graph: false`.
std::unique_ptr<StepGraph> make_step_graph(const Training& training);

}  // namespace ddptrain
