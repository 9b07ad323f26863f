#include "distributed/buckets.h"

#include <ATen/ops/_foreach_copy.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace ddptrain {

namespace impl = torch::autograd::impl;

namespace {

/// Gradients of a device lie next to their bucket until they are that many: few enough not to count
/// next to a model, and enough for one copy to take its time by its bytes.
constexpr std::size_t kMostUncopied = 4 << 20;

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

std::vector<Flat> bucket_flats(const std::vector<NamedTensor>& parameters, const BucketSize& size,
                               Room room) {
  std::vector<std::int64_t> bytes;
  for (const auto& named : parameters)
    bytes.push_back(static_cast<std::int64_t>(named.tensor.nbytes()));
  std::vector<Flat> flats;
  for (auto& members : bucket_layout(bytes, size))
    flats.push_back(flat_of(parameters, std::move(members), room));
  return flats;
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
  auto flats = options.flats.empty() ? bucket_flats(parameters, options.size) : options.flats;
  for (auto& named : parameters)
    slots_.push_back({std::move(named.name), std::move(named.tensor), {}, 0, false, false});
  for (auto& flat : flats) {
    if (flat.members.empty()) continue;
    buckets_.push_back({std::move(flat), {}, {}, 0, 0, 0, nullptr, nullptr});
    allocate(buckets_.size() - 1);
    auto& made = buckets_.back();
    if (options.wire)
      made.wire = group_.buffer(made.flat.elements, made.buffer.options().dtype(*options.wire));
  }
  for (std::size_t i = 0; i < slots_.size(); ++i)
    impl::set_post_acc_grad_hooks(slots_[i].parameter, std::make_unique<GradientHook>(*this, i));
}

Buckets::~Buckets() {
  for (auto& slot : slots_) impl::set_post_acc_grad_hooks(slot.parameter, nullptr);
}

void Buckets::allocate(std::size_t index) {
  auto& flat = buckets_[index].flat;
  auto& buffer = buckets_[index].buffer;
  buffer = group_.buffer(flat.elements, slots_[flat.members.front()].parameter.options());
  for (std::size_t i = 0; i < flat.members.size(); ++i) {
    auto& slot = slots_[flat.members[i]];
    // Dense parameters keep their strides (channels_last), so that autograd adds in place.
    slot.view = view_of(buffer, flat, i, slot.parameter);
    slot.bucket = index;
  }
}

void Buckets::begin() {
  released_ = false;
  next_ = 0;
  for (auto& slot : slots_) slot.used = slot.ready = false;
  for (auto& bucket : buckets_) {
    bucket.missing = bucket.unfilled = bucket.flat.members.size();
    bucket.uncopied = 0;
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
  auto& bucket = buckets_[slot.bucket];
  if (!std::exchange(slot.used, true) && views_) {
    const bool is_full = --bucket.unfilled == 0;
    bucket.uncopied += slot.view.nbytes();
    if (slot.view.is_cpu()) {
      fill({&index, 1});  // while it is in the cache
    } else if (is_full || bucket.uncopied >= kMostUncopied) {
      fill(bucket.flat.members);  // by one kernel
      bucket.uncopied = 0;
    }
  }
  if (!released_ || slot.ready) return;
  slot.ready = true;
  --bucket.missing;
  while (next_ < buckets_.size() && buckets_[next_].missing == 0) send(buckets_[next_++]);
}

void Buckets::fill(std::span<const std::size_t> members) {
  std::map<at::ScalarType, std::array<std::vector<at::Tensor>, 2>> by_type;  // a kernel for each
  for (const auto i : members) {
    const auto& slot = slots_[i];
    auto& gradient = slot.parameter.mutable_grad();
    if (!slot.used || gradient.is_alias_of(slot.view)) continue;
    auto& [views, gradients] = by_type[gradient.scalar_type()];
    views.push_back(slot.view);
    gradients.push_back(gradient);
    if (views_) gradient = slot.view;
  }
  for (const auto& [type, lists] : by_type) at::_foreach_copy_(lists[0], lists[1]);
}

void Buckets::send(Bucket& bucket) {
  for (const auto i : bucket.flat.members)
    if (!slots_[i].used) slots_[i].view.zero_();
  fill(bucket.flat.members);
  if (compression_ && compression_->is_on(step_)) {
    bucket.compressed = compression_->send(gradients_of(bucket), step_);
    return;
  }
  if (bucket.wire.defined()) bucket.wire.copy_(bucket.buffer);
  auto& sent = bucket.wire.defined() ? bucket.wire : bucket.buffer;
  bucket.pending = bucket.flat.cuts.empty() ? group_.all_reduce_async(sent)
                                            : group_.reduce_scatter_async(sent, bucket.flat.cuts);
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
  if (bucket.wire.defined()) bucket.buffer.copy_(bucket.wire);
}

std::vector<NamedTensor> Buckets::gradients_of(const Bucket& bucket) const {
  std::vector<NamedTensor> gradients;
  for (const auto i : bucket.flat.members) gradients.push_back({slots_[i].name, slots_[i].view});
  return gradients;
}

void Buckets::restore(const std::vector<bool>& used) {
  begin();
  next_ = buckets_.size();
  for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].used = used[i];
}

std::int64_t Buckets::bytes() const {
  std::int64_t bytes = 0;
  for (const auto& bucket : buckets_)
    for (const auto& tensor : {bucket.buffer, bucket.wire})
      if (tensor.defined()) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

std::vector<bool> Buckets::used() const {
  std::vector<bool> used;
  for (const auto& slot : slots_) used.push_back(slot.used);
  return used;
}

void Buckets::assign_gradients(const std::vector<bool>& used_anywhere) {
  std::vector<at::Tensor> copies, views;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    auto& gradient = slots_[i].parameter.mutable_grad();
    if (!used_anywhere[i])
      gradient.reset();
    else if (views_)
      gradient = slots_[i].view;
    else if (gradient.defined())
      copies.push_back(gradient), views.push_back(slots_[i].view);
    else
      gradient = slots_[i].view.clone();
  }
  if (!copies.empty()) at::_foreach_copy_(copies, views);
}

}  // namespace ddptrain
