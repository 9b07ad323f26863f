#include "train/loop/state.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <unordered_map>

#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "base/version.h"
#include "callbacks/callback.h"
#include "checkpoint/saving/part_shares.h"
#include "data/dataset.h"
#include "data/loader/scored.h"
#include "distributed/engine.h"
#include "distributed/phases.h"
#include "distributed/sharding/shards.h"
#include "distributed/world.h"
#include "models/model.h"
#include "models/stored_state.h"
#include "optim/ema.h"
#include "optim/optimizer.h"
#include "train/loop/completion.h"
#include "train/training.h"
#include "train/transfer/row_names.h"

namespace ddptrain {
namespace {

RunEnvironment run_environment(const Training& t) {
  return {
      .ddptrain = version(),
      .torch = torch_version(),
      .mode = std::string(
          names(t.recipe.parallel.mode)[static_cast<std::size_t>(t.recipe.parallel.mode)]),
      .ranks = t.placement.ranks,
      .replicas = t.placement.replicas,
      .device = device_name(t.placement),
      .threads = t.placement.threads,
      .global = t.placement.batch.global,
      .accumulate = t.placement.batch.accumulate,
  };
}

std::vector<SavedCallback> callback_states(const Training& t) {
  std::vector<SavedCallback> states;
  for (std::size_t i = 0; i < t.callbacks.size(); ++i)
    states.push_back({t.recipe.callbacks[i].type(), t.callbacks[i]->state()});
  return states;
}

void restore_callbacks(Training& t, const std::vector<SavedCallback>& states) {
  for (std::size_t i = 0; i < t.callbacks.size() && i < states.size(); ++i)
    if (states[i].type == t.recipe.callbacks[i].type())
      t.callbacks[i]->load(states[i].state);
    else
      log::warning(
          "callbacks[{}] is another one than in the checkpoint; its state is re-initialized", i);
}

// A stop holds until the run is asked for more; what callbacks counted stays either way.
void lift_stop(const Training& t, std::optional<Stop>& stop) {
  if (!stop || stop->asked == asked_length(t.recipe)) return;
  std::vector<std::string> counting;
  for (std::size_t i = 0; i < t.callbacks.size(); ++i)
    if (!t.callbacks[i]->state().empty())
      counting.push_back(fmt::format("callbacks[{}] ({})", i, t.recipe.callbacks[i].type()));
  log::info("the run had stopped ({}) and continues, since it is asked for more; {}", stop->reason,
            counting.empty() ? "nothing of the stop counts any more"
                             : join(counting, ", ") +
                                   " keep what they counted, so the next evaluation that is no "
                                   "better may stop it again");
  stop.reset();
}

/// Of what was saved, as much as this run has a use for.
RunState state_for(const Training& t, const SavedState& saved) {
  auto state = run_state_of(saved);
  auto scale = first_state(t).loss_scale;
  if (scale && state.loss_scale) scale->load(state.loss_scale->state());
  state.loss_scale = scale;
  if (!t.recipe.checkpoint.keep_best) state.best.reset();
  return state;
}

void say_differences(const RunEnvironment& saved, const RunEnvironment& now) {
  const auto before = listed(saved), after = listed(now);
  for (std::size_t i = 0; i < after.size(); ++i)
    if (before[i] != after[i])
      log::warning(
          "resuming with {} {}, the checkpoint has {}: the run goes on, not bit for bit as before",
          after[i].first, after[i].second, before[i].second);
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(Exit::data, "the run cannot go on from this checkpoint: {}", why);
}

/// An output of the model means a class, by its name: data of a class fewer is other data.
void require_all_classes(const Training& t, const SavedState& state) {
  const auto& classes = state.names.classes;
  if (classes != t.data->facts().classes)
    refuse(fmt::format("it was trained on the classes [{}], and the data has [{}]",
                       join(classes, ", "), join(t.data->facts().classes, ", ")));
  if (state.data == t.data->digest()) return;
  const auto absent = absent_classes(*t.data, Split::train);
  if (!absent.empty())
    refuse(fmt::format(
        "it was trained on the classes [{}], and the data has no training sample of [{}]",
        join(classes, ", "), join(absent, ", ")));
  log::warning("the data is not what it was when the checkpoint was written");
}

// Position and schedule count steps.
void require_the_same_epochs(const Training& t, const SavedState& state) {
  const auto steps = state.steps_per_epoch, global = state.environment.global;
  if (steps != t.length.per_epoch || global != t.length.global)
    refuse(fmt::format(
        "its epochs are {} steps of {} samples, and they would be {} of {} (batch.global, data)",
        steps, global, t.length.per_epoch, t.length.global));
}

SavedState saved_state(const Training& t, const RunState& state) {
  SavedState saved;
  put(state, saved);
  saved.seed = t.recipe.seed;
  saved.names = {t.data->facts().classes, target_names(*t.data), t.data->state()};
  saved.data = t.data->digest();
  saved.steps_per_epoch = t.length.per_epoch;
  saved.callbacks = callback_states(t);
  saved.environment = run_environment(t);
  return saved;
}

/// The first name of each parameter.
std::unordered_map<const at::TensorImpl*, std::string> names_of_parameters(const Model& model) {
  std::unordered_map<const at::TensorImpl*, std::string> names;
  for (const auto& [name, tensor] : model.named_parameters())
    names.emplace(tensor.unsafeGetTensorImpl(), name);
  return names;
}

/// Of parameters that ranks have in parts, this one's: no rank has the memory of all for it.
void restore_model(Training& t, const std::vector<NamedTensor>& saved) {
  const auto& model = t.engine->model();
  const auto* shards = t.engine->shards();
  auto live = stored_state(model);
  if (!shards) return restore(saved, live, "the model");
  check_fit(saved, live, "the model");
  const auto parameters = names_of_parameters(model);
  std::unordered_map<std::string, at::Tensor> there;
  for (const auto& [name, tensor] : saved) there.emplace(name, tensor);
  for (auto& [name, tensor] : live)
    if (const auto found = parameters.find(tensor.unsafeGetTensorImpl());
        found != parameters.end()) {
      tensor = shards->piece(found->second);
      if (const auto whole = there.find(name); whole != there.end())
        whole->second = shards->cut({{found->second, whole->second}}).front().tensor;
    }
  const at::NoGradGuard no_grad;
  for (auto& [name, tensor] : live)
    if (const auto found = there.find(name); found != there.end()) tensor.copy_(found->second);
}

// Statistics of an average are there only once it was finished.
std::vector<NamedTensor> buffers_among(const std::vector<NamedTensor>& saved, const Model& model) {
  std::vector<NamedTensor> found;
  for (const auto& [name, live] : model.named_buffers())
    for (const auto& each : saved)
      if (each.name == name) found.push_back({name, live.detach().clone()});
  return found;
}

}  // namespace

RunState first_state(const Training& t) {
  RunState state;
  const auto& train = t.recipe.train;
  if (train.precision.value != Precision::fp16) return state;
  const auto constants = train.loss_scale.value_or(LossScaleSpec{});
  state.loss_scale.emplace(LossScaleOptions{constants.init_scale, constants.growth_factor,
                                            constants.backoff_factor, constants.growth_interval});
  return state;
}

namespace {

/// What this rank writes of state that ranks have in parts, or else all of it.
std::vector<TensorPart> parts_of(const Training& t, const std::vector<NamedTensor>& state,
                                 const std::vector<NamedTensor>& order) {
  if (const auto* shards = t.engine->shards()) return shards->parts(state, order);
  auto parts = whole_parts(state);
  StatePlaces places(order);
  for (auto& part : parts) part.place = places.next(part.name);
  return parts;
}

/// The model's state, of which ranks may have pieces of the parameters.
std::vector<TensorPart> model_parts(const Training& t) {
  const auto& model = t.engine->model();
  const auto state = stored_state(model);
  const auto* shards = t.engine->shards();
  if (!shards) return whole_parts(state);
  std::unordered_map<std::string, TensorPart> pieces;
  for (auto& part : shards->parts(shards->pieces(), {})) pieces.emplace(part.name, part);
  const auto parameters = names_of_parameters(model);
  std::vector<TensorPart> parts;
  for (std::size_t i = 0; i < state.size(); ++i) {
    const auto& [name, tensor] = state[i];
    const auto parameter = parameters.find(tensor.unsafeGetTensorImpl());
    TensorPart part{name, tensor.sizes().vec(), 0, tensor, 0};
    if (parameter != parameters.end()) {
      const auto piece = pieces.find(parameter->second);
      if (piece == pieces.end()) continue;
      part = piece->second;
    } else if (t.world->rank != 0) {
      continue;
    }
    part.name = name;
    part.place = static_cast<std::int64_t>(i);
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<NamedTensor> parameters_in(const std::vector<ParameterGroup>& groups) {
  std::vector<NamedTensor> all;
  for (const auto& group : groups)
    all.insert(all.end(), group.parameters.begin(), group.parameters.end());
  return all;
}

void restore_reduction(Engine& engine, const std::vector<NamedTensor>& state) {
  if (auto* memory = engine.memory())
    memory->load(state);
  else if (!state.empty())
    log::warning(
        "the checkpoint has what compressed gradients had lost, and this run does not "
        "compress them: it is left out");
}

}  // namespace

CheckpointParts capture(const Training& t, const RunState& state) {
  const PhaseScope phase(Phase::saving);
  CheckpointParts parts;
  parts.step = state.position.step;
  const bool shards = t.engine->shards() != nullptr;
  const auto state_of_optimizer = shards ? t.optimizer->state() : t.optimizer->gather_state();
  parts.optimizer = parts_of(t, state_of_optimizer, parameters_in(t.optimizer->groups()));
  if (t.ema) parts.ema = parts_of(t, t.ema->state(), t.ema->parameters());
  parts.model = model_parts(t);
  if (!shards) parts = share_of(parts, t.world->rank, t.world->size);
  const auto carried = t.engine->carried().gather(*t.world->control);
  const auto* memory = t.engine->memory();
  const auto reduction = memory ? memory->gather_state() : std::vector<NamedTensor>{};
  if (t.world->rank != 0) return parts;
  parts.reduction = whole_parts(reduction);
  parts.carried = whole_parts(carried);
  parts.state = to_text(saved_state(t, state));
  return parts;
}

void restore_weights(Training& t, const Checkpoint& checkpoint) {
  restore_model(t, checkpoint.model);
  t.engine->parameters_changed();
  if (!t.ema) return;
  if (checkpoint.ema.empty()) {
    log::warning("the checkpoint has no average of weights; it starts here");
    return;
  }
  t.ema->set_buffers(buffers_among(checkpoint.ema, t.engine->model()));
  const auto* shards = t.engine->shards();
  restore(shards ? shards->cut(checkpoint.ema) : checkpoint.ema, t.ema->state(), "the average");
}

SavedData saved_data(const Checkpoint& checkpoint) {
  auto names = saved_names(checkpoint.state);
  return {std::move(names.fitted), std::move(names.classes)};
}

RunState restore(Training& t, const Checkpoint& checkpoint) {
  const auto saved = saved_state_of(checkpoint.state);
  restore_weights(t, checkpoint);
  require_all_classes(t, saved);
  require_the_same_epochs(t, saved);
  t.optimizer->load(checkpoint.optimizer);
  restore_reduction(*t.engine, checkpoint.reduction);
  t.engine->carried().load(checkpoint.carried);
  auto state = state_for(t, saved);
  restore_callbacks(t, saved.callbacks);
  lift_stop(t, state.stop);
  say_differences(saved.environment, run_environment(t));
  return state;
}

}  // namespace ddptrain
