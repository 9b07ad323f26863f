#include "train/step/step_graph.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

#include <bit>
#include <exception>
#include <utility>

#include "accelerator/accelerator.h"
#include "base/error.h"
#include "base/output/log.h"
#include "distributed/phases.h"
#include "launch/failure.h"
#include "train/stages.h"
#include "train/training.h"

namespace ddptrain {
namespace {

constexpr int kWarmUp = 3;      // steps in which libraries choose their kernels
constexpr int kPatience = 100;  // steps, before somebody is told that no two are alike

at::Tensor room_for(const at::Tensor& tensor, at::Device device) {
  return at::empty_like(tensor, tensor.options().device(device));
}

void add_layout(std::vector<std::int64_t>& likeness, const std::vector<at::Tensor>& tensors) {
  likeness.push_back(static_cast<std::int64_t>(tensors.size()));
  for (const auto& tensor : tensors) {
    likeness.push_back(static_cast<std::int64_t>(tensor.scalar_type()));
    likeness.push_back(tensor.dim());
    likeness.insert(likeness.end(), tensor.sizes().begin(), tensor.sizes().end());
    likeness.insert(likeness.end(), tensor.strides().begin(), tensor.strides().end());
  }
}

std::int64_t address(const void* data) { return std::bit_cast<std::int64_t>(data); }

/// Of what the recipe and the machine are; empty: none.
std::string obstacle_of(const Training& t) {
  const auto accumulate = t.placement.batch.accumulate;
  if (accumulate > 1)
    return "a step makes " + std::to_string(accumulate) + " passes (batch.accumulate)";
  auto why = t.engine->prevents_capture();
  if (why.empty() && t.world->size > 1 && t.recipe.train.graph.automatic())
    why = "collectives of ranks are captured only where 'train.graph: true' asks for it";
  return why;
}

/// Rows that were left out, and those of replicas, make a batch of its own kind.
bool is_plain(const Batch& batch, const MicroStep& at) {
  return batch.rows > 0 && batch.left_out == 0 && batch.positions.empty() && batch.parts.empty() &&
         !at.data_lost;
}

}  // namespace

StepGraph::StepGraph(const Training& training)
    : t_(training),
      accelerator_(accelerator(t_.placement.device)),
      device_(t_.engine->model().named_parameters().front().tensor.device()),
      required_(t_.recipe.train.graph.value.value_or(false)),
      obstacle_(obstacle_of(t_)),
      step_there_(at::zeros({}, at::TensorOptions(device_).dtype(at::kLong))) {
  for (const auto& named : t_.engine->model().named_parameters()) weights_.push_back(named.tensor);
  for (const auto& named : t_.engine->model().named_buffers()) weights_.push_back(named.tensor);
  if (required_ && !obstacle_.empty()) refuse(obstacle_);
}

StepGraph::~StepGraph() = default;

void StepGraph::pass(const Batch& batch, MicroStep at, WholeStep whole) {
  outcome_.moved = false;
  waiting_.reset();
  repeated_ = false;
  if (refused_ || !obstacle_.empty()) {
    note_eager_step();
    return compute(batch, at);
  }
  bring(at);
  if (splits_) whole.kind.reset();
  const bool can_be = can_be_repeated(batch, at, whole);
  if (can_be && whole.kind) {
    waiting_ = {batch, at, std::move(whole)};
    if (waiting_->whole.now) make_whole();
    return;
  }
  if (!can_be || !(is_captured() || capture_passes(batch, at))) {
    note_eager_step();
    return compute(batch, at);
  }
  repeated_ = true;
  eager_ = 0;
  bring(batch);
  graph_->replay();
  t_.engine->take(results_);
}

void StepGraph::bring(MicroStep& at) {
  if (step_known_ != at.step) step_there_.fill_(at.step);
  step_known_ = at.step;
  at.step_there = step_there_;
  if (!at.loss_gradient.defined()) return;
  if (!loss_gradient_.defined()) loss_gradient_ = at::empty_like(at.loss_gradient);
  at.loss_gradient = loss_gradient_.copy_(at.loss_gradient);
}

/// Is there a graph of such a step, or can one be captured now?
bool StepGraph::can_be_repeated(const Batch& batch, const MicroStep& at, const WholeStep& whole) {
  if (!is_plain(batch, at)) return false;
  likeness_ = likeness_of(batch, at);
  kind_ = whole.kind;
  return is_captured() || is_due(likeness_);
}

/// The step that waits; its passes alone where it cannot be captured as a whole.
void StepGraph::make_whole() {
  const auto step = *std::exchange(waiting_, {});
  if (!is_captured() && !capture_whole(step)) return pass(step.batch, step.at);
  eager_ = 0;
  bring(step.batch);
  t_.engine->take(results_);
  t_.engine->bring(/*asked=*/false);
  step.whole.bring();
  graph_->replay();
  ++step_known_;
  outcome_.moved = true;
}

void StepGraph::compute(const Batch& batch, const MicroStep& at) {
  t_.engine->begin();
  t_.engine->accumulate(batch, *t_.loss, at);
}

// Addresses are part of it: a tensor that was given other memory is not where the graph looks.
StepGraph::Likeness StepGraph::likeness_of(const Batch& batch, const MicroStep& at) const {
  Likeness likeness{static_cast<std::int64_t>(stage_index(t_.stages, at.step)),
                    batch.rows,
                    batch.first_row,
                    address(batch.pixels.get()),
                    std::bit_cast<std::int64_t>(at.nominal),
                    std::bit_cast<std::int64_t>(at.loss_scale)};
  if (at.loss_gradient.defined()) likeness.back() = -1;  // then a tensor has it
  add_layout(likeness, batch.inputs);
  add_layout(likeness, batch.targets);
  for (const auto& weight : weights_) {
    likeness.push_back(address(weight.const_data_ptr()));
    likeness.push_back(weight.requires_grad() ? 1 : 0);
  }
  return likeness;
}

/// Steps that are alike have warmed up.
bool StepGraph::is_due(const Likeness& likeness) {
  alike_ = likeness == last_ ? alike_ + 1 : 1;
  last_ = likeness;
  return alike_ > kWarmUp;
}

/// Why it cannot be done: then nothing has been.
std::string StepGraph::capture(const Batch& batch, const DeviceWork& work) {
  endings_ = {};
  graph_.reset();
  results_ = {};
  outcome_ = {};
  try {
    batch_ = batch;
    for (auto* tensors : {&batch_.inputs, &batch_.targets})
      for (auto& tensor : *tensors) tensor = room_for(tensor, device_);
    accelerator_.empty_cache();  // what steps kept is of no use to the graph
    graph_ = accelerator_.capture(device_.index(), work);
    captured_ = likeness_;
    captured_kind_ = kind_;
  } catch (...) {
    return failure_of(std::current_exception(), t_.world->rank).message;
  }
  return {};
}

bool StepGraph::capture_passes(const Batch& batch, const MicroStep& at) {
  auto why = too_little_memory();
  if (why.empty())
    why = capture(batch, [&] {
      compute(batch_, at);
      results_ = t_.engine->results();
    });
  if (!why.empty()) refuse(why);
  return why.empty();
}

bool StepGraph::capture_whole(const Waiting& step) {
  if (const auto why = too_little_memory(); !why.empty()) {
    refuse(why);
    return false;
  }
  t_.engine->begin();  // counts of the step before are no part of it
  t_.engine->bring(/*asked=*/false);
  const auto why = capture(step.batch, [&] {
    compute(batch_, step.at);
    results_ = t_.engine->results();
    outcome_ = step.whole.rest();
    step_there_.add_(1);
  });
  splits_ = !why.empty();
  if (splits_ && t_.world->rank == 0) log::info("a step is not captured as one graph: " + why);
  return !splits_;
}

StepOutcome StepGraph::end(bool asked, bool norm_is_wanted,
                           const std::function<StepOutcome()>& work) {
  if (waiting_) make_whole();
  if (outcome_.moved) {
    auto made = outcome_;
    outcome_.moved = false;
    return made;
  }
  if (!repeated_ || ends_on_host_) return work();
  t_.engine->bring(asked);
  auto& ending = endings_[norm_is_wanted ? 1 : 0];
  if (!ending.graph) capture(ending, work);
  if (!ending.graph) return work();
  ending.graph->replay();
  return ending.outcome;
}

void StepGraph::capture(Ending& ending, const std::function<StepOutcome()>& work) {
  try {
    ending.graph = accelerator_.capture(device_.index(), [&] { ending.outcome = work(); });
  } catch (...) {
    ends_on_host_ = true;
    ending = {};
    if (t_.world->rank == 0)
      log::info("the ends of steps are made without a graph: " +
                failure_of(std::current_exception(), t_.world->rank).message);
  }
}

void StepGraph::bring(const Batch& batch) {
  const PhaseScope phase(Phase::transfer);
  for (std::size_t i = 0; i < batch.inputs.size(); ++i)
    batch_.inputs[i].copy_(batch.inputs[i], /*non_blocking=*/true);
  for (std::size_t i = 0; i < batch.targets.size(); ++i)
    batch_.targets[i].copy_(batch.targets[i], /*non_blocking=*/true);
}

/// A graph has memory of its own, as much as a step takes, and other work keeps its own too.
std::string StepGraph::too_little_memory() const {
  const auto memory = accelerator_.memory(device_.index());
  if (required_ || memory.total == 0 || 2 * memory.peak_reserved <= memory.total) return {};
  return "a graph takes as much of the device's memory again as a step does, which is more than "
         "half of it";
}

void StepGraph::refuse(const std::string& why) {
  refused_ = true;
  repeated_ = false;
  batch_ = {};
  results_ = {};
  if (required_)
    throw Error(Exit::recipe, Option{"train.graph"},
                "steps cannot be captured into a graph: " + why +
                    "; 'train.graph: auto' trains without one");
  if (t_.world->rank == 0) log::info("steps are made without a graph: " + why);
}

void StepGraph::note_eager_step() {
  ++eager_;
  if (eager_ == kWarmUp && !refused_ && !obstacle_.empty()) refuse(obstacle_);
  if (eager_ == kPatience && !refused_ && t_.world->rank == 0)
    log::info("steps are made without a graph so far: their batches differ in shape");
}

std::unique_ptr<StepGraph> make_step_graph(const Training& t) {
  if (t.placement.on_cpu() || !t.recipe.train.graph.value.value_or(true)) return nullptr;
  return std::make_unique<StepGraph>(t);
}

}  // namespace ddptrain
