// Passes of steps that are alike, captured once and repeated by the device itself.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

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
  std::int64_t count = 0;  // of the window's numbers; those of group_norms() follow
};

/// Makes the forward and backward pass of a step's only micro-batch with the reduction of its
/// gradients, and then what comes before the optimizer's step. After a few steps that are alike it
/// captures one; from then on both parts of such steps are one launch each, and other steps are
/// made as ever. The same bits either way.
class StepGraph {
 public:
  /// The training outlives it. An Error (Exit::recipe) where `train.graph: true` cannot be.
  explicit StepGraph(const Training& training);
  ~StepGraph();

  /// Engine::begin() and accumulate(). An Error (Exit::recipe) under `train.graph: true` where the
  /// step cannot be captured; under `auto` that is logged once, and steps are made without a graph.
  void pass(const Batch& batch, MicroStep at);
  /// What comes after the passes up to the optimizer's step, `work`: another graph repeats it where
  /// one has repeated the passes. There is one for steps whose norm is wanted, one for others.
  StepOutcome end(bool asked, bool norm_is_wanted, const std::function<StepOutcome()>& work);
  /// A step was made without a graph: once they are warm, says why, if that will not change.
  void note_eager_step();

 private:
  /// All that a captured pass took from the host.
  using Likeness = std::vector<std::int64_t>;
  bool is_captured(const Batch& batch, const MicroStep& at);
  Likeness likeness_of(const Batch& batch, const MicroStep& at) const;
  void compute(const Batch& batch, const MicroStep& at);
  bool is_due(const Likeness& likeness);
  bool capture(const Batch& batch, const MicroStep& at);
  struct Ending {
    StepOutcome outcome;  // that a replay leaves behind
    std::unique_ptr<DeviceGraph> graph;
  };
  void capture(Ending& ending, const std::function<StepOutcome()>& work);
  void bring(const Batch& batch);
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
  Likeness last_, captured_;
  int alike_ = 0, eager_ = 0;  // steps like the one before; steps in a row without a graph
  PassResults results_;        // that a replay leaves behind
  std::unique_ptr<DeviceGraph> graph_;
  bool repeated_ = false;          // the passes of the step under way
  bool ends_on_host_ = false;      // ends of steps cannot be captured
  std::array<Ending, 2> endings_;  // [norm_is_wanted]
};

/// Null on the CPU and with `train.graph: false`.
std::unique_ptr<StepGraph> make_step_graph(const Training& training);

}  // namespace ddptrain
