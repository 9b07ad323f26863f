#include "distributed/sharding/units.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/error.h"
#include "distributed/cast_weights.h"
#include "distributed/sharding/unit_members.h"
#include "models/model.h"

namespace ddptrain {
namespace {

/// One that computes, and one whose collective is under way.
constexpr std::size_t kSlots = 2;

using Gradients = std::vector<std::unique_ptr<UnitGradients>>;

std::int64_t elements_of(const Gradients& parts) {
  std::int64_t elements = 0;
  for (const auto& gradients : parts) elements += gradients->flat().elements;
  return elements;
}

/// The parts lie in it one behind the other.
void take(const Gradients& parts, const at::Tensor& buffer) {
  std::int64_t first = 0;
  for (const auto& gradients : parts) {
    const auto elements = gradients->flat().elements;
    gradients->take(buffer.narrow(0, first, elements));
    first += elements;
  }
}

}  // namespace

struct Units::BackwardHook final : torch::autograd::FunctionPreHook {
  BackwardHook(Units& owner, std::size_t place) : units(owner), unit(place) {}
  torch::autograd::variable_list operator()(
      const torch::autograd::variable_list& gradients) override {
    units.begin_backward(unit);
    return gradients;
  }
  Units& units;
  std::size_t unit;
};

Units::Units(Model& model, const std::vector<NamedTensor>& parameters, const UnitOptions& options,
             World& world)
    : world_(world), options_(options), parameters_(parameters), members_(parameters.size()) {
  add_units(model);
  share_memory();
}

void Units::add_units(Model& model) {
  const auto own_type = parameters_.front().tensor.scalar_type();
  const auto& cast = options_.cast;
  const auto is_cast =
      cast ? cast_parameters(model, parameters_) : std::vector<bool>(parameters_.size(), false);
  const auto blocks = blocks_in(model);
  const auto members = members_of(blocks, parameters_);
  for (std::size_t u = 0; u < members.size(); ++u) {
    const bool is_root = u + 1 == members.size();
    if (members[u].empty() && !is_root) continue;
    auto& unit = units_.emplace_back();
    const bool stays = is_root || options_.reshard == Reshard::step;
    if (is_root) {
      add_weights(unit, members[u], {own_type, stays});
      continue;
    }
    of_block_.emplace(blocks[u], units_.size() - 1);
    std::vector<std::size_t> own, others;
    for (const auto i : members[u]) (is_cast[i] ? others : own).push_back(i);
    add_weights(unit, std::move(others), {cast.value_or(own_type), stays});
    add_weights(unit, std::move(own), {own_type, stays});
  }
}

void Units::share_memory() {
  std::int64_t largest = 0;
  std::vector<Flat> flats;
  std::vector<at::Tensor> slices;
  for (const auto& unit : units_) {
    std::int64_t bytes = 0;
    for (const auto& weights : unit.weights) {
      bytes += weights->bytes();
      flats.push_back(weights->flat());
      slices.push_back(weights->slice());
    }
    if (!unit.stays()) largest = std::max(largest, bytes);
  }
  if (largest > 0)
    weight_slots_ = std::make_unique<Slots>(largest, kSlots, parameters_.front().tensor.device());
  shards_ = std::make_unique<Shards>(parameters_, std::move(flats), options_.cut, slices, world_);
}

void Units::add_weights(Unit& unit, std::vector<std::size_t> members, const Travel& travel) {
  if (members.empty()) return;
  auto& weights = unit.weights.emplace_back(std::make_unique<UnitWeights>(
      parameters_, std::move(members), travel, options_.cut, world_.sharing()));
  for (std::size_t i = 0; i < weights->flat().members.size(); ++i)
    members_[weights->flat().members[i]] = {weights.get(), i};
}

void Units::assign(std::size_t parameter, const at::Tensor& value) {
  const auto& [weights, place] = members_[parameter];
  weights->assign(place, value);
}

Units::~Units() = default;

void Units::set_trained(const std::vector<std::string>& names) {
  trained_ = names;
  std::vector<bool> kept;
  for (const auto& named : parameters_)
    kept.push_back(std::ranges::find(names, named.name) != names.end());
  std::int64_t largest = 0;
  for (auto& unit : units_) {
    unit.gradients.clear();
    std::int64_t elements = 0;
    for (const auto& weights : unit.weights) {
      auto flat = with_those(weights->flat(), parameters_, kept, Room::aligned);
      if (flat.members.empty()) continue;
      elements += flat.elements;
      unit.gradients.push_back(std::make_unique<UnitGradients>(
          parameters_, std::move(flat), weights->slice().scalar_type(), world_.sharing()));
    }
    if (&unit != &root()) largest = std::max(largest, elements);
  }
  const auto options = shards_->options();
  const auto size = static_cast<std::int64_t>(options.dtype().itemsize());
  const bool has_slots = largest > 0 && !options_.reduces_last;
  gradient_slots_ =
      has_slots ? std::make_unique<Slots>(largest * size, kSlots, options.device()) : nullptr;
  for (auto& unit : units_)
    unit.whole_gradients = &unit == &root() || options_.reduces_last
                               ? at::empty({elements_of(unit.gradients)}, options)
                               : at::Tensor();
}

std::optional<std::size_t> Units::expected(std::size_t place) const {
  if (!order_is_known_ || place >= order_.size()) return {};
  return order_[place];
}

void Units::let_come(std::size_t index) {
  auto& unit = units_[index];
  if (unit.stays() || unit.is_there() || unit.is_coming()) return;
  unit.slot = weight_slots_->take();
  std::int64_t first = 0;
  for (const auto& weights : unit.weights) {
    weights->gather(
        weight_slots_->buffer(unit.slot, first, weights->flat().elements, weights->type()));
    first += weights->bytes();
  }
}

void Units::bring(std::size_t index) {
  let_come(index);
  for (const auto& weights : units_[index].weights) weights->wait();
}

void Units::release(Unit& unit) {
  if (unit.stays()) return;
  for (const auto& weights : unit.weights) weights->release();
  weight_slots_->give_back(unit.slot);
}

void Units::begin_forward() {
  place_ = 0;
  if (!order_is_known_) order_.clear();
  for (auto& unit : units_)
    if (unit.is_there() || unit.is_coming()) {
      for (const auto& weights : unit.weights) weights->wait();
      release(unit);
    }
}

void Units::enter(std::size_t index) {
  if (!order_is_known_) order_.push_back(index);
  DDP_CHECK(place_ < order_.size() && order_[place_] == index,
            "the blocks of a model run in the same order in each pass");
  bring(index);
  if (const auto next = expected(place_ + 1)) let_come(*next);
}

void Units::leave(std::size_t index) {
  const auto next = expected(++place_);
  const bool is_needed = next == index || (learns_ && order_is_known_ && !next);
  if (!is_needed) release(units_[index]);
}

at::Tensor Units::run(const Module& block, const at::Tensor& input, const Pass& pass,
                      const Forward& forward) {
  const auto found = of_block_.find(&block);
  if (found == of_block_.end()) return forward(input, pass);
  enter(found->second);
  const auto output = forward(input, pass);
  if (learns_ && output.requires_grad() && output.grad_fn())
    output.grad_fn()->add_pre_hook(std::make_unique<BackwardHook>(*this, found->second));
  leave(found->second);
  return output;
}

void Units::follow() {
  begin_forward();
  auto order = order_;
  for (std::size_t block = 0; !order_is_known_ && block < blocks(); ++block) order.push_back(block);
  for (const auto index : order) {
    enter(index);
    leave(index);
  }
  end_forward();
}

/// Of a pass that did not come to its end; sums that are on their way arrive.
void Units::forget_pass(Unit& unit) {
  unit.in_backward = false;
  if (!unit.is_taking()) return;
  for (const auto& gradients : unit.gradients) gradients->forget();
  if (!unit.whole_gradients.defined()) gradient_slots_->give_back(unit.gradient_slot);
}

void Units::begin_window() {
  learns_ = false;
  reducing_.clear();
  for (auto& unit : units_) {
    forget_pass(unit);
    for (const auto& gradients : unit.gradients) gradients->begin();
  }
}

void Units::begin_pass(bool last) {
  begin_forward();
  learns_ = true;
  reduces_ = last || !options_.reduces_last;
  for (auto& unit : units_) unit.had_backward = false;
  for (const auto& gradients : root().gradients) gradients->add_up();
  if (!root().is_taking()) take(root().gradients, root().whole_gradients);
}

void Units::take_gradients(Unit& unit) {
  if (unit.gradients.empty() || unit.is_taking()) return;
  if (unit.whole_gradients.defined()) {
    take(unit.gradients, unit.whole_gradients);
    return;
  }
  finish_reduction(unit);
  if (!gradient_slots_->has_free()) {
    const auto oldest = reducing_.front();
    finish_reduction(units_[oldest]);
  }
  unit.gradient_slot = gradient_slots_->take();
  take(unit.gradients, gradient_slots_->buffer(unit.gradient_slot, 0, elements_of(unit.gradients),
                                               shards_->options().dtype().toScalarType()));
}

void Units::finish_reduction(Unit& unit) {
  if (!unit.is_reducing()) return;
  for (const auto& gradients : unit.gradients) gradients->add_up();
  if (!unit.whole_gradients.defined()) gradient_slots_->give_back(unit.gradient_slot);
  std::erase(reducing_, static_cast<std::size_t>(&unit - units_.data()));
}

/// By now all that comes behind this block in the network has had its backward pass.
void Units::begin_backward(std::size_t index) {
  const at::NoGradGuard no_grad;
  order_is_known_ = true;
  auto& unit = units_[index];
  if (unit.in_backward) return;
  for (std::size_t other = 0; other < units_.size(); ++other)
    if (units_[other].in_backward) end_backward(other);
  bring(index);
  unit.in_backward = unit.had_backward = true;
  take_gradients(unit);
  while (place_ > 0 && order_[place_ - 1] != index) --place_;
  if (place_ > 1 && order_is_known_) let_come(order_[place_ - 2]);
  if (place_ > 0) --place_;
}

void Units::end_backward(std::size_t index) {
  auto& unit = units_[index];
  unit.in_backward = false;
  release(unit);
  if (unit.gradients.empty() || !reduces_) return;
  for (const auto& gradients : unit.gradients) gradients->reduce();
  reducing_.push_back(index);
}

void Units::end_pass() {
  order_is_known_ = true;
  for (std::size_t index = 0; index < units_.size(); ++index)
    if (units_[index].in_backward) end_backward(index);
  // What has had none takes part in the collectives of the other ranks.
  const auto order = order_;
  for (const auto index : order | std::views::reverse)
    if (!units_[index].had_backward && &units_[index] != &root()) begin_backward(index);
  for (std::size_t index = 0; index < units_.size(); ++index)
    if (units_[index].in_backward) end_backward(index);
  learns_ = false;
  if (!reduces_) return;
  for (const auto& gradients : root().gradients) gradients->reduce();
}

void Units::finish_window() {
  while (!reducing_.empty()) finish_reduction(units_[reducing_.front()]);
  for (const auto& gradients : root().gradients) gradients->add_up();
  if (!world_.replica_group) return;
  for (auto& unit : units_)
    for (const auto& gradients : unit.gradients)
      world_.replica_group->all_reduce(gradients->sums());
}

std::vector<bool> Units::used() const {
  std::unordered_map<std::string, bool> by_name;
  for (const auto& unit : units_)
    for (const auto& gradients : unit.gradients)
      for (std::size_t i = 0; i < gradients->flat().members.size(); ++i)
        by_name[parameters_[gradients->flat().members[i]].name] = gradients->used()[i];
  std::vector<bool> used;
  for (const auto& name : trained_) used.push_back(by_name.at(name));
  return used;
}

void Units::assign_gradients(const std::vector<bool>& used) const {
  for (const auto& piece : shards_->pieces()) piece.tensor.mutable_grad().reset();
  std::unordered_map<std::string, bool> is_used;
  for (std::size_t i = 0; i < trained_.size(); ++i) is_used.emplace(trained_[i], used[i]);
  for (const auto& unit : units_)
    for (const auto& gradients : unit.gradients) {
      const auto& flat = gradients->flat();
      for (std::size_t i = 0; i < flat.members.size(); ++i) {
        const auto& name = parameters_[flat.members[i]].name;
        if (!is_used.at(name)) continue;
        const auto piece = piece_of(flat, i, world_.sharing().rank());
        shards_->set_gradient(name, gradients->sums().narrow(0, piece.in_slice, piece.elements));
      }
    }
}

std::int64_t Units::held_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& unit : units_) {
    for (const auto& weights : unit.weights) bytes += weights->held_bytes();
    for (const auto& gradients : unit.gradients)
      bytes += static_cast<std::int64_t>(gradients->sums().nbytes());
    if (unit.whole_gradients.defined())
      bytes += static_cast<std::int64_t>(unit.whole_gradients.nbytes());
  }
  for (const auto* slots : {weight_slots_.get(), gradient_slots_.get()})
    if (slots) bytes += slots->bytes();
  return bytes;
}

void Units::weights_changed() {
  for (auto& unit : units_)
    for (const auto& weights : unit.weights)
      if (weights->stays()) weights->gather();
  for (auto& unit : units_)
    for (const auto& weights : unit.weights)
      if (weights->stays()) weights->wait();
}

void Units::copy_to_groups() {
  if (!world_.replica_group) return;
  const at::NoGradGuard no_grad;
  for (auto& unit : units_)
    for (const auto& weights : unit.weights) {
      auto slice = weights->slice();
      world_.replica_group->broadcast(slice, 0);
    }
}

std::optional<std::size_t> Units::place_of(const Module& block) const {
  const auto found = of_block_.find(&block);
  return found == of_block_.end() ? std::nullopt : std::optional(found->second);
}

void Units::hold(std::size_t block) {
  DDP_CHECK(!learns_, "weights are held outside of a step");
  for (const auto& weights : units_[block].weights) weights->hold();
}

void Units::let_go(std::size_t block) {
  for (const auto& weights : units_[block].weights) weights->let_go();
}

}  // namespace ddptrain
