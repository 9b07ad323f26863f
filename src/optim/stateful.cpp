// What all optimizers share: groups, state by name in a fixed order, and which parameters move.
#include "optim/stateful.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "optim/refusal.h"

namespace ddptrain {
namespace {

std::string shape_text(const at::Tensor& tensor) {
  std::ostringstream out;
  out << tensor.sizes();
  return out.str();
}

bool lie_alike(const at::Tensor& a, const at::Tensor& b) {
  const auto sizes = a.sizes(), of_a = a.strides(), of_b = b.strides();
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] != 1 && of_a[d] != of_b[d]) return false;
  return true;
}

/// The fused kernels walk memory, so gradients must lie as their parameters do.
at::Tensor laid_out_as(const at::Tensor& parameter, const at::Tensor& gradient) {
  if (lie_alike(gradient, parameter)) return gradient;
  return at::empty_like(parameter, gradient.options()).copy_(gradient);
}

bool moves_with(const Update& u, const at::Tensor& parameter, std::size_t group, float steps) {
  const auto& first = u.parameters.front();
  return u.group == group && static_cast<float>(u.step) == steps &&
         first.scalar_type() == parameter.scalar_type() && first.device() == parameter.device();
}

/// The parameters and those of their slots that are on their device.
std::vector<at::Tensor> on_their_device(const Update& u) {
  auto all = u.parameters;
  for (const auto& slot : u.state)
    for (std::size_t i = 0; i < slot.size(); ++i)
      if (slot[i].defined() && slot[i].device() == u.parameters[i].device()) all.push_back(slot[i]);
  return all;
}

}  // namespace

Stateful::Stateful(OptimizerCommon common, std::vector<ParameterGroup> groups, StateNames names)
    : common_(std::move(common)), groups_(std::move(groups)), names_(std::move(names)) {
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (const auto& [name, tensor] : groups_[g].parameters)
      entries_.push_back({name, tensor, g, {}});
  steps_ = at::zeros({static_cast<std::int64_t>(entries_.size())}, at::kFloat);
  counts_ = steps_.mutable_data_ptr<float>();
  active_.assign(entries_.size(), 0);
}

void Stateful::step(const Rates& rates) {
  at::NoGradGuard no_grad;
  undecided_ = rates.refused.defined();
  repeats_ = false;
  host_slots_.clear();
  host_slots_before_.clear();
  if (find_gradients()) regroup();
  upload_rates(rates);
  for (auto& u : updates_) begin(u, rates);
  prepare(updates_);
  const bool takes_back = undecided_ && !heeds_refusal();
  const auto made = takes_back ? 1 - rates.refused : at::Tensor();
  if (offloaded_)
    offloaded_->step(updates_, [&](const Update& u) { move(u, made); });
  else
    for (const auto& u : updates_) move(u, made);
  for (auto& u : updates_) u.gradients.clear();  // the engine may free or reuse them
}

/// `made`, where it is defined, is 0 where the device takes the step back.
void Stateful::move(const Update& u, const at::Tensor& made) {
  std::optional<Snapshot> before;
  if (made.defined()) before.emplace(on_their_device(u));
  update(u);
  if (before) before->restore_unless(made);
}

void Stateful::was_refused() {
  if (!undecided_) return;
  undecided_ = repeats_;  // the step after it, which a graph has made already
  for (auto& u : updates_) {
    --u.step;
    for (const auto index : u.members) counts_[index] = static_cast<float>(u.step);
  }
  for (std::size_t i = 0; i < host_slots_.size(); ++i) host_slots_[i].copy_(host_slots_before_[i]);
}

/// The lists are kept from step to step; they are rebuilt when other parameters have gradients.
bool Stateful::find_gradients() {
  bool changed = false;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const char active = entries_[i].parameter.grad().defined();
    changed |= active != active_[i];
    active_[i] = active;
  }
  return changed;
}

void Stateful::regroup() {
  ++regrouped_;
  updates_.clear();
  std::vector<std::size_t> first_moves;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (active_[i] && entries_[i].slots.empty()) first_moves.push_back(i);
  create_slots(first_moves);
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (active_[i]) add_to_update(i);
  if (offloaded_) offloaded_->plan(updates_);
}

void Stateful::add_to_update(std::size_t index) {
  const auto& entry = entries_[index];
  Update* found = nullptr;
  for (auto& u : updates_)
    if (moves_with(u, entry.parameter, entry.group, counts_[index])) found = &u;
  if (!found) {
    found = &updates_.emplace_back();
    found->state.resize(names_.slots.size());
    found->group = entry.group;
    found->step = static_cast<std::int64_t>(counts_[index]);
  }
  found->members.push_back(index);
  found->parameters.push_back(entry.parameter);
  found->steps.push_back(steps_.select(0, static_cast<std::int64_t>(index)));
  for (std::size_t s = 0; s < entry.slots.size(); ++s) found->state[s].push_back(entry.slots[s]);
}

void Stateful::begin(Update& u, const Rates& rates) {
  const auto& group = groups_[u.group];
  u.lr = rates.of(group);
  u.weight_decay = common_.weight_decay * group.decay_scale * rates.decay_share;
  u.momentum = rates.momentum;
  u.refused = heeds_refusal() ? rates.refused : at::Tensor();
  u.rate_there = reads_rate_there(u) ? rates_there_.at(u.group) : at::Tensor();
  const bool cycles = rates.momentum && reads_momentum_there() && u.rate_there.defined();
  u.momentum_there = cycles ? rates_there_.at(groups_.size()) : at::Tensor();
  if (undecided_) keep_slots_of_the_host(u);
  count(u);
  set_gradients(u);
}

void Stateful::count(Update& u) {
  ++u.step;
  for (const auto index : u.members) counts_[index] = static_cast<float>(u.step);
}

void Stateful::set_gradients(Update& u) {
  u.gradients.clear();
  for (const auto index : u.members) {
    const auto& parameter = entries_[index].parameter;
    u.gradients.push_back(laid_out_as(parameter, parameter.grad()));
  }
}

// torch's kernels take a rate of the device as a float, and one of the host as a double. So a step
// reads it there whether or not it is captured, but for weights that are doubles.
bool Stateful::reads_rate_there(const Update& u) const {
  const auto& first = u.parameters.front();
  return heeds_refusal() && !first.is_cpu() && first.scalar_type() != at::kDouble;
}

void Stateful::upload_rates(const Rates& rates) {
  const auto reads = [this](const Update& u) { return reads_rate_there(u); };
  if (std::ranges::none_of(updates_, reads)) return;
  const auto device = updates_.front().parameters.front().device();
  rates_there_.reserve(std::ssize(groups_) + 1, device);
  counts_there_.reserve(std::ssize(updates_), device);
  std::vector<float> numbers;
  for (const auto& group : groups_) numbers.push_back(static_cast<float>(rates.of(group)));
  numbers.push_back(static_cast<float>(rates.momentum.value_or(0)));
  rates_there_.upload(numbers);
}

/// Of the steps that were made; every refusal among them is known.
void Stateful::upload_counts() {
  std::vector<float> numbers;
  for (const auto& u : updates_) numbers.push_back(static_cast<float>(u.step));
  counts_there_.upload(numbers);
  counts_there_.forget();
}

std::optional<std::int64_t> Stateful::version() const {
  const auto captured = [this](const Update& u) { return u.step > 0 && reads_rate_there(u); };
  if (updates_.empty() || !std::ranges::all_of(updates_, captured)) return {};
  return regrouped_;
}

void Stateful::capture(const at::Tensor& refused) {
  const at::NoGradGuard no_grad;
  if (!version() || find_gradients())
    throw std::runtime_error("the optimizer's step is not as those before it");
  counts_there_.all().add_(1 - refused);
  for (std::size_t i = 0; i < updates_.size(); ++i) {
    auto u = updates_[i];
    ++u.step;
    if (!u.momentum_there.defined()) u.momentum.reset();
    u.refused = refused;
    u.rate_there = rates_there_.at(u.group);
    u.step_there = counts_there_.at(i);
    set_gradients(u);
    update(u);
  }
}

void Stateful::upload(const Rates& rates) {
  const at::NoGradGuard no_grad;
  undecided_ = true;
  upload_rates(rates);
  if (!std::exchange(repeats_, true)) upload_counts();
  for (auto& u : updates_) count(u);
}

void Stateful::keep_slots_of_the_host(const Update& u) {
  for (std::size_t s = 0; s < u.state.size(); ++s)
    for (const auto& tensor : u.state[s]) {
      if (!tensor.defined() || !tensor.is_cpu()) continue;
      if (offloaded_ && !offloaded_->stays(s)) continue;
      host_slots_.push_back(tensor);
      host_slots_before_.push_back(tensor.clone());
    }
}

at::Tensor Stateful::first_state(std::size_t, const at::Tensor& parameter) const {
  return at::zeros_like(parameter);
}

/// Of a slot before the first step, without memory unless it is on the host.
at::Tensor Stateful::slot_form(std::size_t slot, const at::Tensor& parameter) const {
  const auto meta = parameter.options().device(at::kMeta).requires_grad(false);
  return first_state(slot, at::empty_strided(parameter.sizes(), parameter.strides(), meta));
}

std::int64_t Stateful::state_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& entry : entries_) {
    if (names_.step) bytes += sizeof(float);
    for (std::size_t s = 0; s < names_.slots.size(); ++s) {
      const auto slot = entry.slots.empty() ? slot_form(s, entry.parameter) : entry.slots[s];
      if (slot.defined()) bytes += static_cast<std::int64_t>(slot.nbytes());
    }
  }
  return bytes;
}

bool Stateful::offload(StateStream& stream) {
  std::vector<bool> stays(names_.slots.size());
  std::vector<std::vector<at::Tensor>> forms;
  for (const auto& entry : entries_) {
    auto& slots = forms.emplace_back();
    for (std::size_t s = 0; s < names_.slots.size(); ++s) {
      slots.push_back(slot_form(s, entry.parameter));
      stays[s] = stays[s] || (slots[s].defined() && slots[s].is_cpu());
    }
  }
  offloaded_.emplace(stream, std::move(stays)).expect(forms);
  return true;
}

void Stateful::create_slots(const std::vector<std::size_t>& indices) {
  if (offloaded_) return create_offloaded_slots(indices);
  for (const auto index : indices)
    for (std::size_t s = 0; s < names_.slots.size(); ++s)
      entries_[index].slots.push_back(first_state(s, entries_[index].parameter.detach()));
}

/// Slot by slot, so that those of neighbors are copied at once.
void Stateful::create_offloaded_slots(const std::vector<std::size_t>& indices) {
  for (std::size_t s = 0; s < names_.slots.size(); ++s) {
    std::vector<at::Tensor> forms;
    for (const auto index : indices) forms.push_back(slot_form(s, entries_[index].parameter));
    const auto slots = offloaded_->stays(s) ? forms : offloaded_->allocate(forms);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      auto& entry = entries_[indices[i]];
      entry.slots.push_back(slots[i]);
      if (offloaded_->stays(s) || !slots[i].defined()) continue;
      const auto& parameter = entry.parameter;
      const auto host = parameter.options().device(at::kCPU).requires_grad(false);
      slots[i].copy_(
          first_state(s, at::empty_strided(parameter.sizes(), parameter.strides(), host)));
    }
  }
}

/// Live handles; the slots exist.
std::vector<NamedTensor> Stateful::state_of(std::size_t index) const {
  const auto& entry = entries_[index];
  std::vector<NamedTensor> state;
  if (names_.step)
    state.push_back({entry.name + ".step", steps_.select(0, static_cast<std::int64_t>(index))});
  for (std::size_t s = 0; s < entry.slots.size(); ++s)
    if (entry.slots[s].defined())
      state.push_back({entry.name + "." + names_.slots[s], entry.slots[s]});
  return state;
}

std::vector<NamedTensor> Stateful::state() const {
  if (offloaded_) offloaded_->wait();
  std::vector<NamedTensor> all;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const auto state = state_of(i);
    all.insert(all.end(), state.begin(), state.end());
  }
  return all;
}

void Stateful::load(const std::vector<NamedTensor>& state) {
  at::NoGradGuard no_grad;
  std::map<std::string, at::Tensor> given;
  for (const auto& [name, tensor] : state) given.emplace(name, tensor);
  if (offloaded_) offloaded_->wait();
  std::vector<std::size_t> first_moves;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].slots.empty() && is_given(entries_[i], given)) first_moves.push_back(i);
  create_slots(first_moves);
  for (std::size_t i = 0; i < entries_.size(); ++i) load_entry(i, given);
  if (!given.empty())
    throw Error(Exit::data, "optimizer state '{}' belongs to no parameter, or to another optimizer",
                given.begin()->first);
  active_.assign(entries_.size(), 0);  // steps may differ now: group again
  updates_.clear();
  if (offloaded_) offloaded_->plan(updates_);
}

bool Stateful::is_given(const Entry& entry, const std::map<std::string, at::Tensor>& given) const {
  const auto has = [&](const std::string& what) { return given.contains(entry.name + "." + what); };
  return (names_.step && has("step")) || std::ranges::any_of(names_.slots, has);
}

/// Takes what belongs to an entry out of `given`: all of its state, or none when it never moved.
void Stateful::load_entry(std::size_t index, std::map<std::string, at::Tensor>& given) {
  auto& entry = entries_[index];
  const auto targets = state_of(index);
  std::size_t found = 0;
  for (const auto& [name, target] : targets) found += given.count(name);
  counts_[index] = found > 0 ? 1 : 0;  // exact where the steps are part of the state
  if (found == 0) return entry.slots.clear();
  for (const auto& [name, target] : targets) {
    const auto source = given.find(name);
    if (source == given.end()) throw Error(Exit::data, "optimizer state '{}' is missing", name);
    if (source->second.sizes() != target.sizes())
      throw Error(Exit::data, "optimizer state '{}' has shape {}, parameter '{}' wants {}", name,
                  shape_text(source->second), entry.name, shape_text(target));
    target.copy_(source->second);
    given.erase(source);
  }
}

}  // namespace ddptrain
