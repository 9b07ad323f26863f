#include "distributed/sharding/unit_gradients.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <utility>

#include "base/error.h"

namespace ddptrain {

namespace autograd_impl = torch::autograd::impl;

struct UnitGradients::Hook final : torch::autograd::PostAccumulateGradHook {
  Hook(UnitGradients& owner, std::size_t place) : gradients(owner), member(place) {}
  void operator()(const at::Tensor&) override { gradients.arrived(member); }
  UnitGradients& gradients;
  std::size_t member;
};

UnitGradients::UnitGradients(const std::vector<NamedTensor>& parameters, Flat flat,
                             at::ScalarType type, Group& group)
    : flat_(std::move(flat)), group_(group) {
  for (std::size_t i = 0; i < flat_.members.size(); ++i) {
    parameters_.push_back(parameters[flat_.members[i]].tensor);
    autograd_impl::set_post_acc_grad_hooks(parameters_[i], std::make_unique<Hook>(*this, i));
  }
  const auto r = static_cast<std::size_t>(group.rank());
  sums_ = at::zeros({flat_.cuts[r + 1] - flat_.cuts[r]},
                    parameters_.front().options().dtype(type).requires_grad(false));
  begin();
}

UnitGradients::~UnitGradients() {
  for (const auto& parameter : parameters_)
    autograd_impl::set_post_acc_grad_hooks(parameter, nullptr);
}

void UnitGradients::begin() {
  used_.assign(parameters_.size(), false);
  has_sums_ = false;
}

void UnitGradients::take(const at::Tensor& buffer) {
  const at::NoGradGuard no_grad;
  buffer_ = buffer;
  views_.clear();
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    views_.push_back(view_of(buffer_, flat_, i, parameters_[i]));
  filled_.assign(parameters_.size(), false);
}

void UnitGradients::arrived(std::size_t member) {
  DDP_CHECK(is_taking(), "a gradient came before the backward pass of its unit");
  auto& gradient = parameters_[member].mutable_grad();
  used_[member] = filled_[member] = true;
  if (gradient.is_alias_of(buffer_)) return;
  views_[member].copy_(gradient);
  gradient = views_[member];
}

void UnitGradients::reduce() {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i].mutable_grad().reset();
    if (!filled_[i]) views_[i].zero_();
  }
  views_.clear();
  pending_ = group_.reduce_scatter_async(buffer_, flat_.cuts);
}

void UnitGradients::add_up() {
  if (!pending_) return;
  const at::NoGradGuard no_grad;
  std::exchange(pending_, {})->wait();
  const auto slice = slice_of(buffer_, flat_.cuts, group_.rank());
  if (std::exchange(has_sums_, true))
    sums_.add_(slice);
  else
    sums_.copy_(slice);
  buffer_.reset();
}

void UnitGradients::forget() {
  if (pending_) std::exchange(pending_, {})->wait();
  for (const auto& parameter : parameters_) parameter.mutable_grad().reset();
  views_.clear();
  buffer_.reset();
}

}  // namespace ddptrain
