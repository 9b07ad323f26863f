#include "distributed/sharding/unit.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/zeros.h>
#include <c10/core/StorageImpl.h>

#include <utility>

#include "base/error.h"

namespace ddptrain {

at::Tensor without_memory(std::int64_t elements, const at::TensorOptions& options) {
  const auto bytes = elements * static_cast<std::int64_t>(options.dtype().itemsize());
  c10::Storage storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), bytes, c10::DataPtr(nullptr, options.device()),
      /*allocator=*/nullptr, /*resizable=*/false));
  return at::empty({0}, options).set_(storage, 0, {elements}, {1});
}

Slots::Slots(std::int64_t bytes, std::size_t count, at::Device device) {
  for (std::size_t slot = 0; slot < count; ++slot) {
    buffers_.push_back(at::empty({bytes}, at::TensorOptions(device).dtype(at::kByte)));
    free_.push_back(slot);
  }
}

std::size_t Slots::take() {
  DDP_CHECK(!free_.empty(), "more units are in use than there are slots");
  const auto slot = free_.back();
  free_.pop_back();
  return slot;
}

std::int64_t Slots::bytes() const {
  std::int64_t bytes = 0;
  for (const auto& buffer : buffers_) bytes += static_cast<std::int64_t>(buffer.nbytes());
  return bytes;
}

at::Tensor Slots::buffer(std::size_t slot, std::int64_t first, std::int64_t elements,
                         at::ScalarType type) const {
  const auto bytes = elements * static_cast<std::int64_t>(c10::elementSize(type));
  return buffers_[slot].narrow(0, first, bytes).view(type);
}

UnitWeights::UnitWeights(const std::vector<NamedTensor>& parameters,
                         std::vector<std::size_t> members, const Travel& travel, CutAt at,
                         Group& group)
    : group_(group), stays_(travel.stays) {
  const at::NoGradGuard no_grad;
  const auto [type, stays] = travel;
  const auto element_bytes = static_cast<std::int64_t>(c10::elementSize(type));
  flat_ = flat_of(parameters, std::move(members), Room::aligned, element_bytes);
  cut(flat_, parameters, group.size(), at, element_bytes);
  for (const auto member : flat_.members) parameters_.push_back(parameters[member].tensor);
  const auto options = parameters_.front().options().requires_grad(false);
  whole_ = without_memory(flat_.elements, options.dtype(type));
  make_views_of(whole_);
  if (stays) point_at(at::zeros({flat_.elements}, options.dtype(type)));
  const auto r = static_cast<std::size_t>(group.rank());
  slice_ = stays && options.dtype() == whole_.dtype()
               ? slice_of(memory_, flat_.cuts, group.rank())
               : at::zeros({flat_.cuts[r + 1] - flat_.cuts[r]}, options);
}

std::int64_t UnitWeights::bytes() const { return static_cast<std::int64_t>(whole_.nbytes()); }

std::int64_t UnitWeights::held_bytes() const {
  const auto own = static_cast<std::int64_t>(slice_.nbytes());
  if (!stays_) return own;
  return is_slice_in(memory_) ? bytes() : bytes() + own;
}

void UnitWeights::point_at(const at::Tensor& memory) {
  memory_ = memory;
  whole_.storage().unsafeGetStorageImpl()->set_data_ptr_noswap(
      c10::DataPtr(memory.defined() ? memory.mutable_data_ptr() : nullptr, whole_.device()));
}

void UnitWeights::make_views_of(const at::Tensor& buffer) {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    parameters_[i].set_data(view_of(buffer, flat_, i, parameters_[i]));
}

void UnitWeights::assign(std::size_t member, const at::Tensor& value) {
  const at::NoGradGuard no_grad;
  const auto piece = piece_of(flat_, member, group_.rank());
  if (piece.elements == 0) return;
  const auto& form = parameters_[member];
  const auto whole = at::empty_strided(form.sizes(), form.strides(), slice_.options());
  slice_.narrow(0, piece.in_slice, piece.elements)
      .copy_(in_memory_order(whole.copy_(value)).narrow(0, piece.in_parameter, piece.elements));
}

void UnitWeights::gather(const at::Tensor& memory) {
  const at::NoGradGuard no_grad;
  if (!stays_) point_at(memory);
  if (!is_slice_in(memory_)) slice_of(memory_, flat_.cuts, group_.rank()).copy_(slice_);
  there_ = false;
  pending_ = group_.all_gather_async(memory_, flat_.cuts);
}

void UnitWeights::wait() {
  if (!pending_) return;
  std::exchange(pending_, {})->wait();
  there_ = true;
}

void UnitWeights::release() {
  DDP_CHECK(!stays_ && !pending_, "a unit is released that stays or is on its way");
  point_at({});
  there_ = false;
}

void UnitWeights::hold() {
  if (stays_ && is_slice_in(memory_)) return;
  const at::NoGradGuard no_grad;
  held_ = at::empty({flat_.elements}, slice_.options());
  slice_of(held_, flat_.cuts, group_.rank()).copy_(slice_);
  group_.all_gather_async(held_, flat_.cuts)->wait();
  make_views_of(held_);
}

void UnitWeights::let_go() {
  if (!held_.defined()) return;
  make_views_of(whole_);
  held_.reset();
}

}  // namespace ddptrain
