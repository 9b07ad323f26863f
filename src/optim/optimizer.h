// What moves the parameters, given gradients that are final.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/catalog.h"
#include "models/module.h"
#include "optim/shared_gradients.h"

namespace ddptrain {

class StateStream;  // optim/state_stream.h
class StepCapture;  // optim/step_capture.h

/// Parameters that share settings, by name. The group's multipliers apply to the schedule's rate
/// and to the optimizer's weight decay (no_decay groups have 0).
struct ParameterGroup {
  std::string name;
  std::vector<NamedTensor> parameters;
  double lr_scale = 1;
  double decay_scale = 1;
  std::size_t layer = 0;  // the layer group that they are of, from input to output
};

/// The rate of this step, and the momentum (first beta) where a schedule cycles it. `shares` says
/// what each layer group has of the rate; empty: all of it.
struct Rates {
  double lr = 0;
  std::optional<double> momentum{};
  std::vector<double> shares{};
  /// On an accelerator one float there, torch's found_inf: where it is 1 the step must change
  /// nothing. Undefined: the step is made.
  at::Tensor refused{};
  /// The weight decay where a schedule moves it, and what share that is of the optimizer's own,
  /// which it heeds; of one in another it is the same share.
  std::optional<double> weight_decay{};
  double decay_share = 1;
  double of(const ParameterGroup& group) const {
    return lr * group.lr_scale * (shares.empty() ? 1 : shares.at(group.layer));
  }
};

class Optimizer {
 public:
  using Make = std::unique_ptr<Optimizer>(std::vector<ParameterGroup>);
  virtual ~Optimizer() = default;

  /// The rate that schedules scale, that of the last layer group, and the momentum they may cycle
  /// (null: it has none).
  virtual double lr() const = 0;
  virtual std::optional<double> momentum() const = 0;

  /// One step on every parameter whose gradient is defined; the others stay untouched, state
  /// included. Nothing waits for an accelerator.
  virtual void step(const Rates& rates) = 0;
  /// The device refused the last step: it counts for nothing. Comes before the next one; that of a
  /// step that a graph has repeated may come after the next such step.
  virtual void was_refused() {}

  /// From now on the parameters are this rank's of those that are moved together; all ranks call
  /// step() together.
  virtual void share(const SharedGradients&) {}

  /// For a graph of the device that repeats step(); null: none can.
  virtual StepCapture* step_capture() { return nullptr; }

  /// From now on the state is in the host's memory, and a step moves it through the device; no
  /// bit of it changes. Before the first step and load(); `stream` outlives the optimizer. False:
  /// this one cannot.
  virtual bool offload(StateStream&) { return false; }

  /// Every tensor of state on this rank with torch's names: "<parameter>.exp_avg",
  /// "<parameter>.step"; tensors are live handles in a fixed order once the first step was made.
  virtual std::vector<NamedTensor> state() const = 0;

  /// What a checkpoint keeps, whatever the number of ranks: the state of all parameters, complete
  /// on every rank. All ranks call it together: an optimizer that has the state of some parameters
  /// on another rank gathers it here.
  virtual std::vector<NamedTensor> gather_state() const { return state(); }
  /// Takes what `gather_state` gave, as much of it as belongs on this rank, and refuses what does
  /// not fit; without tensors the optimizer is as before its first step.
  virtual void load(const std::vector<NamedTensor>& state) = 0;

  /// Bytes of gather_state() once every parameter has moved.
  virtual std::int64_t state_bytes() const = 0;

  virtual const std::vector<ParameterGroup>& groups() const = 0;
};

template <>
const Catalog<Optimizer>& catalog<Optimizer>();

}  // namespace ddptrain
