// How replicas' gradients become one: single, dp, ddp. On the same batch all three give the same
// gradients.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/batch.h"
#include "distributed/numerics.h"
#include "distributed/pass_capture.h"
#include "distributed/power_sgd.h"
#include "distributed/row_states.h"
#include "distributed/step_totals.h"
#include "distributed/world.h"
#include "losses/loss.h"
#include "models/layer_groups.h"

namespace ddptrain {

enum class Mode;  // recipe/mode.h
class Blocks;     // models/blocks.h
class Shards;     // distributed/sharding/shards.h

struct EngineOptions {
  Numerics numerics;
  at::Device device = at::kCPU;
  int replicas = 1;                      // dp only
  std::vector<std::int64_t> device_ids;  // dp on CUDA: one device per replica
  bool sync_bn = false;
  bool recompute = false;  // Pass::recompute
  // ddp, torch's names and meaning
  std::int64_t bucket_bytes = 25 << 20;
  bool find_unused_parameters = false;
  bool static_graph = false;
  bool gradient_as_bucket_view = true;
  bool broadcast_buffers = true;
  std::optional<at::ScalarType> wire_type = {};  // what gradients travel as; none: as they are
  std::optional<PowerSgdOptions> power_sgd = {};
  bool whole_tensors = false;  // sharded modes: the optimizer looks at whole parameters
  bool reduces_last = false;   // zero2, fsdp: gradients of a window are summed over ranks once
};

/// Where a micro-batch stands in its optimizer step.
struct MicroStep {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  bool last = true;        // gradients are communicated on the last one only
  double nominal = 1;      // keeps gradients in range: loss_sum / nominal is back-propagated
  double loss_scale = 1;   // fp16
  bool alone = false;      // a trial: no other rank or replica takes part, sync_bn neither
  bool data_lost = false;  // the batch is an empty one, since this rank's cannot be loaded
  // loss_scale / nominal as a number on the device, where that keeps the loss scale; may be
  // undefined
  at::Tensor loss_gradient{};
  at::Tensor step_there{};  // Pass::step_there
};

/// Where each rank has a part of what is trained (sharded modes).
class ModelParts {
 public:
  virtual ~ModelParts() = default;
  /// This rank's pieces of the parameters. They, not the model's parameters, have gradients after
  /// Engine::sum(), and are what an optimizer moves.
  virtual const Shards& shards() const = 0;
  /// A parameter, whole, for reading; all ranks call it together. Undefined: the model has it.
  virtual at::Tensor whole(const std::string& /*name*/) { return {}; }
  /// Keeps this rank's piece of a parameter's value; false: the model has it.
  virtual bool assign(const NamedTensor& /*value*/) { return false; }
  /// Joins in a forward pass of other ranks, where this one has no batch for it.
  virtual void follow() {}
  /// What runs the blocks that ranks share while a rank continues texts (Model::extend). All ranks
  /// call join_continuation() after each extend() of that rank, and take part in it. Null: every
  /// rank has all, and needs no other.
  virtual Blocks* continuation_blocks() { return nullptr; }
  virtual void join_continuation() {}
};

/// What reductions of gradients remember from step to step.
class ReductionMemory {
 public:
  virtual ~ReductionMemory() = default;
  /// As Optimizer::gather_state().
  virtual std::vector<NamedTensor> gather_state() const = 0;
  /// Its size in the end, in bytes, known from the beginning.
  virtual std::int64_t state_bytes() const = 0;
  virtual void load(const std::vector<NamedTensor>& state) = 0;
};

/// After finish() or sum(), gradients of the master parameters hold sum(loss gradients) *
/// loss_scale / nominal over all ranks and replicas; multiply in place by nominal / (loss_scale *
/// weight) for the step's mean. Parameters that received no gradient anywhere in the window have an
/// undefined one. Under ddp that is an Error (Exit::recipe) that names them, unless
/// find_unused_parameters or static_graph allows it.
class Engine {
 public:
  virtual ~Engine() = default;
  /// What trains from now on, on every replica; at a step's beginning, the same on every rank.
  virtual void freeze(const Frozen& frozen) = 0;
  /// The master replica: what optimizers, checkpoints and evaluation see. Owned by the engine.
  virtual Model& model() = 0;
  /// Null: every rank has all.
  virtual ModelParts* parts() { return nullptr; }
  const Shards* shards() const;  // of the parts, or null
  /// ModelParts', which does nothing where every rank has all.
  void follow();
  Blocks* continuation_blocks();
  void join_continuation();
  /// What an optimizer moves: the pieces of the parts, or else the model's parameters.
  std::vector<NamedTensor> masters();
  /// The same model, which model() only finds: the cast is undone by the type that is returned.
  const Model& model() const { return const_cast<Engine*>(this)->model(); }
  /// Clears gradients (in place where they are views) before a window.
  virtual void begin() = 0;
  /// Forward, loss and backward of this rank's micro-batch (dp cuts it over its replicas).
  virtual void accumulate(const Batch& batch, const Loss& loss, const MicroStep& at) = 0;
  /// Sums the window's numbers (window_numbers.h) and its gradients over ranks and replicas. The
  /// numbers are on the master replica's device; on an accelerator without a wait for them.
  /// `asked`: this rank has a request for all.
  virtual at::Tensor sum(bool asked) = 0;
  /// The same numbers once they are on the host.
  virtual StepTotals totals(const at::Tensor& numbers) const;
  /// Both at once, with a wait.
  StepTotals finish() { return totals(sum(false).cpu()); }
  /// Rank 0's buffers to all: before evaluation and before a save.
  virtual void broadcast_buffers() = 0;
  /// Null: they remember nothing.
  virtual ReductionMemory* memory() { return nullptr; }
  const ReductionMemory* memory() const { return const_cast<Engine*>(this)->memory(); }
  /// Gives parameters and buffers these values, whole and the same on all ranks, each of which
  /// keeps its part; names are the model's. parameters_changed() follows.
  void assign(const std::vector<NamedTensor>& values);
  /// Parameters, or this rank's pieces of them, were changed: replicas, or other ranks, follow.
  virtual void parameters_changed() = 0;
  /// Forward on the master replica in the run's numerics, without gradients and collectives. A pass
  /// of training moves batch-norm statistics.
  virtual at::Tensor forward(const Batch& batch, const Pass& pass) = 0;
  /// The same in evaluation mode; `carried`: what the batch's rows carry, or null.
  at::Tensor evaluate(const Batch& batch, Carried* carried = nullptr);
  /// One of the model's parameters or buffers, whole, for reading; all ranks call it together.
  at::Tensor whole(const std::string& name);
  /// Bytes of weights, and of buffers of gradients, that this rank has between steps; gradients
  /// that backward makes come on top.
  virtual std::int64_t held_bytes() const;
  /// What the rows of a global batch carry from one to the next in training.
  RowStates& carried() { return carried_; }
  const RowStates& carried() const { return carried_; }
  /// For a graph of the device that repeats the passes.
  virtual PassCapture& capture() = 0;

 protected:
  RowStates carried_;
};

/// Builds a replica: dp makes several. The first one's weights are broadcast.
using ModelFactory = std::function<std::unique_ptr<Model>()>;

/// The mode's engine, one of those below. `world` outlives it.
std::unique_ptr<Engine> make_engine(Mode mode, const ModelFactory& factory,
                                    const EngineOptions& options, World& world);

std::unique_ptr<Engine> make_single_engine(const ModelFactory& factory,
                                           const EngineOptions& options);
std::unique_ptr<Engine> make_dp_engine(const ModelFactory& factory, const EngineOptions& options);
std::unique_ptr<Engine> make_ddp_engine(const ModelFactory& factory, const EngineOptions& options,
                                        World& world);
std::unique_ptr<Engine> make_zero1_engine(const ModelFactory& factory, const EngineOptions& options,
                                          World& world);
std::unique_ptr<Engine> make_zero2_engine(const ModelFactory& factory, const EngineOptions& options,
                                          World& world);
std::unique_ptr<Engine> make_fsdp_engine(const ModelFactory& factory, const EngineOptions& options,
                                         World& world);

}  // namespace ddptrain
