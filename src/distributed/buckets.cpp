#include "distributed/buckets.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <utility>

namespace ddptrain {

namespace impl = torch::autograd::impl;

namespace {

constexpr std::int64_t kAlignment = 256;  // bytes

using BucketLayout = std::vector<std::vector<std::size_t>>;

/// Backward ends before the last bucket leaves, so its tail of at most `most` bytes goes alone.
void divide_last(BucketLayout& layout, std::span<const std::int64_t> bytes, std::int64_t most) {
  auto& last = layout.back();
  std::int64_t all = 0, tail = 0;
  for (const auto i : last) all += bytes[i];
  if (all <= 2 * most) return;
  auto cut = last.end();
  while (tail + bytes[*(cut - 1)] <= most) tail += bytes[*--cut];
  if (cut == last.end()) return;
  std::vector<std::size_t> end(cut, last.end());
  last.erase(cut, last.end());
  layout.push_back(std::move(end));
}

/// Elements. Kernels of an accelerator read aligned addresses at full width; on the CPU the place
/// of a gradient in its bucket decides in which order ranks are summed, and stays as it was.
std::int64_t room_for(const at::Tensor& parameter) {
  if (parameter.is_cpu()) return parameter.numel();
  const auto aligned = kAlignment / parameter.element_size();
  return (parameter.numel() + aligned - 1) / aligned * aligned;
}

}  // namespace

std::vector<std::vector<std::size_t>> bucket_layout(std::span<const std::int64_t> bytes,
                                                    const BucketSize& size) {
  std::vector<std::vector<std::size_t>> layout;
  std::int64_t room = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    if (room <= 0) {
      room = layout.empty() ? std::min(size.ends, size.others) : size.others;
      layout.emplace_back();
    }
    layout.back().push_back(i);
    room -= bytes[i];
  }
  if (!layout.empty()) divide_last(layout, bytes, size.ends);
  return layout;
}

struct GradientHook final : torch::autograd::PostAccumulateGradHook {
  GradientHook(Buckets& owner, std::size_t index) : buckets(owner), slot(index) {}
  void operator()(const at::Tensor&) override { buckets.arrived(slot); }
  Buckets& buckets;
  std::size_t slot;
};

Buckets::Buckets(std::vector<NamedTensor> parameters, const BucketOptions& options, Group& group,
                 PowerSgd* compression)
    : group_(group), compression_(compression), views_(options.views) {
  std::vector<std::int64_t> bytes;
  for (auto& named : parameters) {
    bytes.push_back(static_cast<std::int64_t>(named.tensor.nbytes()));
    slots_.push_back({std::move(named.name), std::move(named.tensor), {}, 0, false, false});
  }
  for (auto& slots : bucket_layout(bytes, options.size)) {
    buckets_.push_back({{}, {}, std::move(slots), 0, nullptr, nullptr});
    allocate(buckets_.back(), buckets_.size() - 1);
    auto& made = buckets_.back();
    if (options.wire) made.wire = at::empty_like(made.flat, at::TensorOptions(*options.wire));
  }
  for (std::size_t i = 0; i < slots_.size(); ++i)
    impl::set_post_acc_grad_hooks(slots_[i].parameter, std::make_unique<GradientHook>(*this, i));
}

Buckets::~Buckets() {
  for (auto& slot : slots_) impl::set_post_acc_grad_hooks(slot.parameter, nullptr);
}

void Buckets::allocate(Bucket& bucket, std::size_t index) {
  std::int64_t elements = 0;
  for (const auto i : bucket.slots) elements += room_for(slots_[i].parameter);
  bucket.flat = at::zeros({elements}, slots_[bucket.slots.front()].parameter.options());
  std::int64_t first = 0;
  for (const auto i : bucket.slots) {
    auto& slot = slots_[i];
    const auto& parameter = slot.parameter;
    // Dense parameters keep their strides (channels_last), so that autograd adds in place.
    slot.view = bucket.flat.as_strided(parameter.sizes(), parameter.strides(), first);
    slot.bucket = index;
    first += room_for(parameter);
  }
}

void Buckets::begin() {
  released_ = false;
  next_ = 0;
  for (auto& slot : slots_) slot.used = slot.ready = false;
  for (auto& bucket : buckets_) {
    bucket.missing = bucket.slots.size();
    bucket.pending.reset();
    bucket.compressed.reset();
  }
}

void Buckets::release(std::int64_t step) {
  released_ = true;
  step_ = step;
}

void Buckets::arrived(std::size_t index) {
  auto& slot = slots_[index];
  slot.used = true;
  auto& gradient = slot.parameter.mutable_grad();
  if (views_ && !gradient.is_alias_of(slot.view)) {
    slot.view.copy_(gradient);
    gradient = slot.view;
  }
  if (!released_ || slot.ready) return;
  slot.ready = true;
  --buckets_[slot.bucket].missing;
  while (next_ < buckets_.size() && buckets_[next_].missing == 0) send(buckets_[next_++]);
}

void Buckets::send(Bucket& bucket) {
  for (const auto i : bucket.slots) {
    auto& slot = slots_[i];
    if (!slot.used)
      slot.view.zero_();
    else if (!views_)
      slot.view.copy_(slot.parameter.grad());
  }
  if (compression_ && compression_->is_on(step_)) {
    bucket.compressed = compression_->send(gradients_of(bucket), step_);
    return;
  }
  if (bucket.wire.defined()) bucket.wire.copy_(bucket.flat);
  bucket.pending = group_.all_reduce_async(bucket.wire.defined() ? bucket.wire : bucket.flat);
}

void Buckets::finish() {
  while (next_ < buckets_.size()) send(buckets_[next_++]);
  for (auto& bucket : buckets_)
    if (bucket.compressed) bucket.compressed->all_reduce_q();
  for (auto& bucket : buckets_) receive(bucket);
}

void Buckets::receive(Bucket& bucket) {
  if (const auto compressed = std::move(bucket.compressed)) return compressed->finish();
  if (!bucket.pending) return;
  bucket.pending->wait();
  if (bucket.wire.defined()) bucket.flat.copy_(bucket.wire);
}

std::vector<NamedTensor> Buckets::gradients_of(const Bucket& bucket) const {
  std::vector<NamedTensor> gradients;
  for (const auto i : bucket.slots) gradients.push_back({slots_[i].name, slots_[i].view});
  return gradients;
}

void Buckets::restore(const std::vector<bool>& used) {
  begin();
  next_ = buckets_.size();
  for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].used = used[i];
}

std::vector<bool> Buckets::used() const {
  std::vector<bool> used;
  for (const auto& slot : slots_) used.push_back(slot.used);
  return used;
}

void Buckets::assign_gradients(const std::vector<bool>& used_anywhere) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    auto& gradient = slots_[i].parameter.mutable_grad();
    if (!used_anywhere[i])
      gradient.reset();
    else if (views_)
      gradient = slots_[i].view;
    else if (gradient.defined())
      gradient.copy_(slots_[i].view);
    else
      gradient = slots_[i].view.clone();
  }
}

}  // namespace ddptrain
