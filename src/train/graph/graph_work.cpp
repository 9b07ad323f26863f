#include "train/graph/graph_work.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <utility>

#include "accelerator/accelerator.h"
#include "base/error.h"
#include "base/output/log.h"
#include "distributed/phases.h"
#include "launch/failure.h"
#include "models/model.h"
#include "optim/ema.h"
#include "optim/step_capture.h"
#include "train/stages.h"
#include "train/training.h"

namespace ddptrain {
namespace {

constexpr int kPatience = 100;      // steps, before a log line says that no two are alike
constexpr std::size_t kGraphs = 8;  // kept, each of another shape

void add_layout(std::vector<std::int64_t>& signature, const std::vector<at::Tensor>& tensors) {
  signature.push_back(static_cast<std::int64_t>(tensors.size()));
  for (const auto& tensor : tensors) {
    signature.push_back(static_cast<std::int64_t>(tensor.scalar_type()));
    signature.push_back(tensor.dim());
    signature.insert(signature.end(), tensor.sizes().begin(), tensor.sizes().end());
    signature.insert(signature.end(), tensor.strides().begin(), tensor.strides().end());
  }
}

std::int64_t address(const void* data) { return std::bit_cast<std::int64_t>(data); }

/// Of what the recipe and the machine are; empty: none.
std::string obstacle_of(Training& t) {
  const auto accumulate = t.placement.batch.accumulate;
  if (accumulate > 1) return fmt::format("a step makes {} passes (batch.accumulate)", accumulate);
  const auto* model = catalog<Model>().find(t.recipe.model.type());
  if (model && model->has("scripted")) return "a script may decide in each step what it computes";
  if (has_streams(t)) return "rows carry a state from batch to batch (data.blocks)";
  return t.engine->capture().obstacle();
}

/// Rows that were left out, and those of replicas, make a batch of its own kind.
bool is_plain(const Batch& batch, const MicroStep& at) {
  return batch.rows > 0 && batch.left_out == 0 && batch.positions.empty() && batch.parts.empty() &&
         !at.data_lost;
}

Batch empty_copy(Batch batch, at::Device device) {
  for (auto* tensors : {&batch.inputs, &batch.targets})
    for (auto& tensor : *tensors) tensor = at::empty_like(tensor, tensor.options().device(device));
  return batch;
}

std::string current_error(Training& t) {
  return failure_of(std::current_exception(), t.world->rank).message;
}

}  // namespace

GraphWork::GraphWork(Training& training, Decision& decision)
    : t_(training),
      eager_(training, decision),
      passes_(training.engine->capture()),
      accelerator_(accelerator(t_.placement.device)),
      device_(t_.engine->model().named_parameters().front().tensor.device()),
      ranks_(*t_.world),
      required_(t_.recipe.train.graph.value.value_or(false)),
      obstacle_(obstacle_of(t_)),
      step_number_(at::zeros({}, at::TensorOptions(device_).dtype(at::kLong))) {
  for (const auto& named : t_.engine->model().named_parameters()) weights_.push_back(named.tensor);
  for (const auto& named : t_.engine->model().named_buffers()) weights_.push_back(named.tensor);
  if (required_ && !obstacle_.empty()) refuse(obstacle_);
}

GraphWork::~GraphWork() = default;

void GraphWork::begin(const StepInputs& inputs, std::int64_t micro_steps) {
  how_ = How::eager;
  waiting_.reset();
  inputs_ = inputs;
  micro_steps_ = micro_steps;
  if (micro_steps == 1) return;  // pass() chooses
  note_eager_step();
  eager_.begin(inputs, micro_steps);
}

void GraphWork::pass(const Batch& batch, const MicroStep& micro) {
  if (micro_steps_ != 1) return eager_.pass(batch, micro);
  if (refused_ || !obstacle_.empty()) return pass_eagerly(batch, micro);
  const auto at = on_device(micro);
  if (!is_ready(batch, at)) return pass_eagerly(batch, at);
  if (!signature_.optimizer) return pass_split(batch, at);
  how_ = How::whole;
  if (inputs_.may_run_ahead) return run_whole(batch, at);
  waiting_ = {batch, at};
}

StepOutcome GraphWork::decide(const StepInputs& inputs, bool asked) {
  inputs_ = inputs;
  if (waiting_) {
    const auto step = *std::exchange(waiting_, {});
    run_whole(step.batch, step.at);
  }
  if (how_ == How::whole) return captured_->outcome;
  if (how_ == How::split && !ends_are_eager_) return decide_split(inputs, asked);
  return is_rehearsal() ? rehearse(inputs, asked) : eager_.decide(inputs, asked);
}

/// The last eager step before a capture.
bool GraphWork::is_rehearsal() const {
  return how_ == How::eager && !refused_ && obstacle_.empty() && alike_ == shapes_.patience();
}

/// With every kernel that captures have and other eager steps have not: CUDA would load it within
/// the capture.
StepOutcome GraphWork::rehearse(const StepInputs& inputs, bool asked) {
  auto outcome = eager_.decide_as_captured(inputs, asked);
  step_number_.add_(1);
  ++step_uploaded_;
  const auto counted = 1 - outcome.refused;  // as the optimizer counts its steps
  at::zeros({2}, counted.options()).add_(counted);
  return outcome;
}

void GraphWork::update(const StepInputs& inputs, const StepOutcome& outcome) {
  if (!outcome.is_whole) eager_.update(inputs, outcome);
}

void GraphWork::pass_eagerly(const Batch& batch, const MicroStep& at) {
  how_ = How::eager;
  note_eager_step();
  eager_.begin(inputs_, 1);
  eager_.pass(batch, at);
}

void GraphWork::pass_split(const Batch& batch, const MicroStep& at) {
  if (!is_captured() && !capture_passes(batch, at)) return pass_eagerly(batch, at);
  how_ = How::split;
  eager_steps_ = 0;
  upload(batch);
  captured_->graph->replay();
  passes_.restore(captured_->results);
}

/// In two graphs where it cannot be captured as a whole.
void GraphWork::run_whole(const Batch& batch, const MicroStep& at) {
  if (!is_captured() && !capture_whole(batch, at)) {
    signature_.optimizer.reset();
    return refused_ ? pass_eagerly(batch, at) : pass_split(batch, at);
  }
  eager_steps_ = 0;
  upload(batch);
  passes_.restore(captured_->results);
  passes_.upload(/*asked=*/false);
  t_.optimizer->step_capture()->upload(inputs_.rates);
  captured_->graph->replay();
  ++step_uploaded_;  // by the graph
}

StepOutcome GraphWork::decide_split(const StepInputs& inputs, bool asked) {
  passes_.upload(asked);
  auto& ending = captured_->endings[inputs.norm_is_wanted ? 1 : 0];
  if (!ending.graph) capture_ending(ending, inputs, asked);
  if (!ending.graph) return eager_.decide(inputs, asked);
  ending.graph->replay();
  return ending.outcome;
}

/// With its numbers where a graph reads them.
MicroStep GraphWork::on_device(MicroStep at) {
  if (step_uploaded_ != at.step) step_number_.fill_(at.step);
  step_uploaded_ = at.step;
  at.step_there = step_number_;
  if (!at.loss_gradient.defined()) return at;
  if (!loss_gradient_.defined()) loss_gradient_ = at::empty_like(at.loss_gradient);
  at.loss_gradient = loss_gradient_.copy_(at.loss_gradient);
  return at;
}

StepSignature GraphWork::signature_of(const Batch& batch, const MicroStep& at) const {
  GraphShapes::Shape shape{batch.rows,
                           batch.first_row,
                           inputs_.rates.momentum.has_value(),
                           address(batch.pixels.get()),
                           std::bit_cast<std::int64_t>(at.nominal),
                           std::bit_cast<std::int64_t>(at.loss_scale)};
  if (at.loss_gradient.defined()) shape.back() = -1;  // then a tensor has it
  add_layout(shape, batch.inputs);
  add_layout(shape, batch.targets);
  std::vector<std::int64_t> model{static_cast<std::int64_t>(stage_index(t_.stages, at.step))};
  for (const auto& weight : weights_) {
    model.push_back(address(weight.const_data_ptr()));
    model.push_back(weight.requires_grad() ? 1 : 0);
  }
  return {std::move(shape), std::move(model), optimizer_version()};
}

/// Empty where a step cannot be whole: on several ranks another one may say that nothing moves.
std::optional<std::int64_t> GraphWork::optimizer_version() const {
  if (whole_is_refused_ || t_.world->size > 1 || inputs_.rates.weight_decay) return {};
  if (t_.ema && !t_.ema->can_be_captured()) return {};
  const auto* step = t_.optimizer->step_capture();
  if (!step || (inputs_.rates.momentum && !step->reads_momentum())) return {};
  return step->version();
}

/// Whether there is a graph of such a step, or one can be captured now: steps like it have warmed
/// up. The same on all ranks.
bool GraphWork::is_ready(const Batch& batch, const MicroStep& at) {
  const bool plain = is_plain(batch, at);
  auto signature = plain ? signature_of(batch, at) : StepSignature();
  auto step = ranks_.joint(plain ? std::optional(std::move(signature.batch)) : std::nullopt,
                           plain && signature.model != signature_.model);
  if (step.is_of_another_model) {
    kept_.clear();
    shapes_.clear();
    captured_ = nullptr;
  }
  if (!step.shape) return false;
  signature.batch = std::move(*step.shape);
  signature_ = std::move(signature);
  find_captured();
  if (is_captured()) return true;
  alike_ = shapes_.count(signature_.batch);
  return alike_ > shapes_.patience();
}

/// One of this batch, which may be of an optimizer that has changed since.
void GraphWork::find_captured() {
  captured_ = nullptr;
  const auto found = std::ranges::find_if(
      kept_, [&](const auto& kept) { return kept.signature.batch == signature_.batch; });
  if (found == kept_.end()) return;
  kept_.splice(kept_.begin(), kept_, found);
  captured_ = &kept_.front();
}

bool GraphWork::capture_passes(const Batch& batch, const MicroStep& at) {
  auto why = together(too_little_memory());
  if (why.empty())
    why = capture(batch, [&] {
      eager_.begin(inputs_, 1);
      eager_.pass(captured_->batch, at);
      captured_->results = passes_.results();
    });
  if (!why.empty()) refuse(why);
  if (why.empty()) note_capture("two graphs");
  return why.empty();
}

bool GraphWork::capture_whole(const Batch& batch, const MicroStep& at) {
  if (const auto why = together(too_little_memory()); !why.empty()) {
    refuse(why);
    return false;
  }
  eager_.begin(inputs_, 1);  // counts of the step before are no part of it
  passes_.upload(/*asked=*/false);
  const auto why = capture(batch, [&] {
    eager_.begin(inputs_, 1);
    eager_.pass(captured_->batch, at);
    captured_->results = passes_.results();
    captured_->outcome = eager_.capture_rest(inputs_);
    step_number_.add_(1);
  });
  whole_is_refused_ = !why.empty();
  if (whole_is_refused_) log_once("a step is not captured as one graph: " + why);
  if (!whole_is_refused_) note_capture("one graph");
  return !whole_is_refused_;
}

/// Why it cannot be done: then nothing has been.
std::string GraphWork::capture(const Batch& batch, const DeviceWork& work) {
  if (captured_) kept_.pop_front();
  captured_ = nullptr;
  std::string why;
  try {
    make_room();
    const auto before = reserved();
    captured_ = &kept_.emplace_front();
    captured_->batch = empty_copy(batch, device_);
    captured_->graph = accelerator_.capture(device_.index(), work);
    captured_->signature = signature_;
    captured_->bytes = reserved() - before;
  } catch (...) {
    why = current_error(t_);
  }
  why = together(std::move(why));
  if (!why.empty() && captured_) kept_.pop_front();
  if (!why.empty()) captured_ = nullptr;
  return why;
}

/// What hinders this rank, or that another one is hindered; empty: nothing hinders any.
std::string GraphWork::together(std::string why) const {
  return ranks_.any(!why.empty()) && why.empty() ? "another rank cannot capture it" : why;
}

std::int64_t GraphWork::reserved() const { return accelerator_.memory(device_.index()).reserved; }

/// For one more graph, and for steps without one: a step takes as much as the largest graph.
void GraphWork::make_room() {
  accelerator_.empty_cache();  // what steps kept is of no use to the graph
  const auto memory = accelerator_.memory(device_.index());
  std::int64_t largest = 0;
  for (const auto& kept : kept_) largest = std::max(largest, kept.bytes);
  const auto is_full = [&] {
    return kept_.size() >= kGraphs || (memory.total > 0 && reserved() + 2 * largest > memory.total);
  };
  while (ranks_.any(!kept_.empty() && is_full())) {
    shapes_.lose(kept_.back().signature.batch);
    kept_.pop_back();
    accelerator_.empty_cache();
  }
}

void GraphWork::capture_ending(CapturedEnding& ending, const StepInputs& inputs, bool asked) {
  std::string why;
  try {
    const auto before = reserved();
    ending.graph = accelerator_.capture(device_.index(),
                                        [&] { ending.outcome = eager_.decide(inputs, asked); });
    captured_->bytes += reserved() - before;
  } catch (...) {
    why = current_error(t_);
  }
  why = together(std::move(why));
  if (why.empty()) return;
  ends_are_eager_ = true;
  ending = {};
  log_once("the ends of steps are made without a graph: " + why);
}

void GraphWork::upload(const Batch& batch) {
  const PhaseScope phase(Phase::transfer);
  auto& to = captured_->batch;
  for (std::size_t i = 0; i < batch.inputs.size(); ++i)
    to.inputs[i].copy_(batch.inputs[i], /*non_blocking=*/true);
  for (std::size_t i = 0; i < batch.targets.size(); ++i)
    to.targets[i].copy_(batch.targets[i], /*non_blocking=*/true);
}

/// A graph has memory of its own, as much as a step takes, and other work keeps its own too. Later
/// ones take the place of others.
std::string GraphWork::too_little_memory() const {
  const auto memory = accelerator_.memory(device_.index());
  if (required_ || captures_ > 0 || memory.total == 0 || 2 * memory.peak_reserved <= memory.total)
    return {};
  return "a graph takes as much of the device's memory again as a step does, which is more than "
         "half of it";
}

void GraphWork::refuse(const std::string& why) {
  refused_ = true;
  kept_.clear();
  captured_ = nullptr;
  if (required_)
    throw Error(Exit::recipe, Option{"train.graph"},
                "steps cannot be captured into a graph: {}; 'train.graph: auto' trains without one",
                why);
  log_once("steps are made without a graph: " + why);
}

void GraphWork::note_eager_step() {
  ++eager_steps_;
  if (refused_) return;
  if (eager_steps_ == GraphShapes::kWarmUp && !obstacle_.empty()) refuse(obstacle_);
  if (eager_steps_ == kPatience)
    log_once("steps are made without a graph so far: their batches differ in shape");
}

/// Every one in the log, since each takes as long as some steps.
void GraphWork::note_capture(const char* as) {
  log::debug("step {} is captured as {} (capture {})", inputs_.step + 1, as, ++captures_);
}

void GraphWork::log_once(const std::string& text) const {
  if (t_.world->rank == 0) log::info(text);
}

std::unique_ptr<StepWork> make_step_work(Training& t, Decision& decision) {
  if (!t.recipe.train.graph.value.value_or(true)) return std::make_unique<EagerWork>(t, decision);
  return std::make_unique<GraphWork>(t, decision);
}

}  // namespace ddptrain
