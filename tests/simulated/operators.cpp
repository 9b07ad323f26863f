#include "simulated/operators.h"

#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include <functional>
#include <optional>
#include <set>

#include "simulated/counting.h"
#include "simulated/faults.h"
#include "simulated/graphs.h"
#include "simulated/memory.h"
#include "simulated/streams.h"

namespace ddptrain::simulated {
namespace {

using Stack = torch::jit::Stack;
using Integers = at::IntArrayRef;
template <class T>
using Maybe = std::optional<T>;

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::HPU);

// Allocations and views.

Tensor empty(Integers size, Maybe<at::ScalarType> type, Maybe<at::Layout>, Maybe<at::Device> device,
             Maybe<bool>, Maybe<at::MemoryFormat> format) {
  const c10::OptionalDeviceGuard guard(device);
  return at::detail::empty_generic(size, &allocator(), kKeys, c10::dtype_or_default(type), format);
}

Tensor empty_strided(Integers size, Integers stride, Maybe<at::ScalarType> type, Maybe<at::Layout>,
                     Maybe<at::Device> device, Maybe<bool>) {
  const c10::OptionalDeviceGuard guard(device);
  return at::detail::empty_strided_generic(size, stride, &allocator(), kKeys,
                                           c10::dtype_or_default(type));
}

// resize_ of the CPU would move bytes itself.
const Tensor& resize(const Tensor& self, Integers size, Maybe<at::MemoryFormat> format) {
  if (self.sizes() == size) return self;
  const auto fresh = at::empty(size, self.options().memory_format(format));
  self.unsafeGetTensorImpl()->set_storage_keep_dtype(fresh.storage());
  self.unsafeGetTensorImpl()->set_sizes_and_strides(fresh.sizes(), fresh.strides());
  return self;
}

// Copies.

Access access(const Tensor& a, const Tensor& b) {
  std::vector<const void*> storages;
  for (const auto* tensor : {&a, &b})
    if (tensor->is_hpu()) storages.push_back(tensor->storage().data());
  return Access(storages);
}

/// The same bytes as a tensor of the host, to be read while they can be accessed.
Tensor host_view(const Tensor& tensor) {
  if (!tensor.is_hpu()) return tensor;
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(),
                       at::TensorOptions().dtype(tensor.dtype()).device(at::kCPU));
}

/// An operator of a device is counted, and comes after what is in its stream.
void begin(int device) {
  if (Inside::operators() || is_captured(device)) return;
  count(&Counts::operators);
  run_waiting(device);
}

/// The host waits for what the stream has to do.
void wait(const Tensor& of, const std::string& why) {
  if (Inside::operators()) return;
  count_wait(why);
  finish(current_stream(of.device().index()));
}

void copy_now(const Tensor& to, const Tensor& from) {
  const Inside inside;
  const auto open = access(to, from);
  auto target = host_view(to);
  target.copy_(host_view(from));
}

void write(const Tensors& to, const Tensors& from) {
  for (std::size_t i = 0; i < to.size(); ++i)
    if (to[i].defined() && to[i].numel() > 0) copy_now(to[i], from[i]);
}

}  // namespace

bool is_captured(int device) { return !Inside::operators() && capture_under_way(device) != 0; }

Tensors computed(const Tensor& on, const std::function<Tensors()>& operation) {
  const int device = on.device().index();
  begin(device);
  const bool captured = is_captured(device);
  const Inside inside;
  auto results = operation();
  if (captured) keep(device, [operation, kept = frozen(results)] { write(kept, operation()); });
  return results;
}

namespace {

/// CUDA copies such tensors as they are; others by way of a temporary one in pageable memory.
bool one_block(const Tensor& to, const Tensor& from) {
  return to.scalar_type() == from.scalar_type() && to.sizes() == from.sizes() &&
         to.strides() == from.strides() && to.is_non_overlapping_and_dense();
}

/// From memory to memory, again at each replay.
void keep_copy(const Tensor& to, const Tensor& from, int device) {
  const auto as_it_is = [](const Tensor& tensor) {
    return tensor.is_hpu() ? frozen(tensor) : tensor;
  };
  keep(device, [to = as_it_is(to), from = as_it_is(from)] { copy_now(to, from); });
  if (!to.is_hpu()) return;
  will_change(device, to);
  copy_now(to, from);
}

bool keeps_copy(const Tensor& to, const Tensor& from, bool pinned, int device) {
  if (!is_captured(device)) return false;
  if (!pinned) forbid_in_a_capture("a copy that waits, or of memory that is not pinned");
  keep_copy(to, from, device);
  return true;
}

void copy_to_device(const Tensor& to, const Tensor& from, bool non_blocking) {
  const bool pinned = one_block(to, from) && is_pinned(from.data_ptr());
  if (keeps_copy(to, from, pinned && non_blocking, to.device().index())) return;
  count(pinned ? &Counts::from_pinned : &Counts::from_pageable);
  const int device = to.device().index();
  if (pinned && non_blocking)
    return copy_to_device_later({to.data_ptr(), from.data_ptr(), from.nbytes()}, device);
  if (pinned)
    wait(to, "copy to the device");
  else
    run_waiting(device);
  copy_now(to, from);
}

void copy_to_host(const Tensor& to, const Tensor& from, bool non_blocking) {
  const bool pinned = non_blocking && one_block(to, from) && is_pinned(to.data_ptr());
  if (keeps_copy(to, from, pinned, from.device().index())) return;
  count(&Counts::to_host);
  if (pinned)
    return copy_to_host_later({to.data_ptr(), from.data_ptr(), from.nbytes()},
                              from.device().index());
  wait(from, "copy to the host");
  copy_now(to, from);
}

Tensor& copy(Tensor& self, const Tensor& from, bool non_blocking) {
  fail_if_asked("copy_");
  if (self.numel() == 0) return self;
  if (Inside::operators()) {
    copy_now(self, from);
  } else if (!from.is_hpu()) {
    copy_to_device(self, from, non_blocking);
  } else if (!self.is_hpu()) {
    copy_to_host(self, from, non_blocking);
  } else if (!keeps_copy(self, from, true, self.device().index())) {
    begin(self.device().index());
    run_waiting(from.device().index());
    copy_now(self, from);
  }
  return self;
}

Tensor copy_from(const Tensor& from, const Tensor& to, bool non_blocking) {
  auto target = to;
  return copy(target, from, non_blocking);
}

Tensor copy_from_and_resize(const Tensor& from, const Tensor& to) {
  to.resize_(from.sizes());
  return copy_from(from, to, false);
}

at::Scalar item(const Tensor& self) {
  fail_if_asked("item");
  count(&Counts::items);
  wait(self, "item");
  const Inside inside;
  const auto open = access(self, self);
  return host_view(self).item();
}

void record_stream(Tensor& self, c10::Stream stream) {
  also_used_by(self.storage().data(), static_cast<int>(stream.id()));
}

// Operators.

void collect(const c10::IValue& value, Tensors& tensors) {
  if (value.isTensor() && value.toTensor().defined()) tensors.push_back(value.toTensor());
  if (!value.isList()) return;
  for (const auto& element : value.toListRef()) collect(element, tensors);
}

Tensors tensors_of(const c10::OperatorHandle& op, const Stack& stack) {
  Tensors tensors;
  for (const auto& value : torch::jit::last(stack, op.schema().arguments().size()))
    collect(value, tensors);
  return tensors;
}

/// As CUDA: a number may come from the host, a tensor may not, and all are on one device.
std::optional<at::Device> require_one_device(const c10::OperatorHandle& op, const Stack& stack) {
  std::optional<at::Device> device;
  for (const auto& tensor : tensors_of(op, stack)) {
    if (tensor.is_cpu() && tensor.dim() == 0) continue;
    TORCH_CHECK(!device || *device == tensor.device(), op.schema().name(), " mixes ", *device,
                " and ", tensor.device());
    device = tensor.device();
  }
  return device;
}

/// The host must know how many there are.
bool waits(const std::string& name) {
  static const std::set<std::string> names{"aten::nonzero", "aten::masked_select", "aten::_unique2",
                                           "aten::equal", "aten::repeat_interleave"};
  return names.contains(name);
}

void begin_on(int device, const std::string& name) {
  begin(device);
  if (!waits(name)) return;
  count_wait(name);
  finish(current_stream(device));
}

bool is_written(const c10::AliasInfo* alias) { return alias != nullptr && alias->isWrite(); }

/// What a call returns and not only changed.
Tensors results_of(const c10::OperatorHandle& op, const Stack& stack) {
  const auto& declared = op.schema().returns();
  const auto values = torch::jit::last(stack, declared.size());
  Tensors results;
  for (std::size_t i = 0; i < declared.size(); ++i)
    if (!is_written(declared[i].alias_info())) collect(values[i], results);
  return results;
}

/// The arguments whose memory a call changes.
Tensors changed_by(const c10::OperatorHandle& op, const Stack& arguments) {
  Tensors changed;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (is_written(op.schema().arguments()[i].alias_info())) collect(arguments[i], changed);
  return changed;
}

/// The same call with results in the same memory.
DeviceWork repeated(const c10::OperatorHandle& op, const Stack& arguments, const Stack& stack) {
  Stack kept;
  for (const auto& argument : arguments) kept.push_back(frozen(argument));
  return [op, kept, results = frozen(results_of(op, stack))] {
    Stack again = kept;
    at::native::cpu_fallback(op, &again);
    write(results, results_of(op, again));
  };
}

void capture_call(const c10::OperatorHandle& op, Stack* stack, int device) {
  const auto arguments = torch::jit::last(*stack, op.schema().arguments().size()).vec();
  for (const auto& tensor : changed_by(op, arguments))
    if (tensor.is_hpu()) will_change(device, tensor);
  const Inside inside;
  at::native::cpu_fallback(op, stack);
  keep(device, repeated(op, arguments, *stack));
}

void on_cpu(const c10::OperatorHandle& op, Stack* stack) {
  fail_if_asked(op.schema().name());
  if (!Inside::operators()) {
    const auto found = require_one_device(op, *stack);
    const int device = found && found->is_hpu() ? found->index() : current_device();
    begin_on(device, op.schema().name());
    if (is_captured(device)) return capture_call(op, stack, device);
  }
  const Inside inside;
  at::native::cpu_fallback(op, stack);
}

// The demands of batch_norm_backward_cuda (aten/src/ATen/native/cuda/Normalization.cu), whose fused
// kernel alone does without them.
void strict_batch_norm_backward(const c10::OperatorHandle& op, Stack* stack) {
  const auto arguments = torch::jit::last(*stack, 10);
  const auto defined = [&](std::size_t i) {
    return !arguments[i].isNone() && arguments[i].toTensor().defined();
  };
  const auto mask = arguments[9].toBoolList();
  if (!mask.get(0)) {
    TORCH_CHECK(defined(5), "save_mean should always be defined");
    TORCH_CHECK(defined(6), "save_invstd should always be defined");
    TORCH_CHECK(defined(2) || !(mask.get(1) || mask.get(2)),
                "tensor does not have a device: weight, whose options the gradients have");
  }
  on_cpu(op, stack);
}

// CUDA adds these up atomically, in any order.
void random_order_max_pool_backward(const c10::OperatorHandle& op, Stack* stack) {
  at::globalContext().alertNotDeterministic("adaptive_max_pool2d_backward_cuda");
  on_cpu(op, stack);
}

TORCH_LIBRARY_IMPL(_, HPU, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>()); }

// One kernel on CUDA; without this it would be the several of the device that has none.
TORCH_LIBRARY_IMPL(ddptrain, HPU, m) {
  m.impl("normalize_images", torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
}

TORCH_LIBRARY_IMPL(aten, HPU, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("resize_", &resize);
  m.impl("as_strided", &at::native::as_strided_tensorimpl);
  m.impl("view", &at::native::view);
  m.impl("_reshape_alias", &at::native::_reshape_alias);
  m.impl("set_.source_Storage_storage_offset", &at::native::set_storage_cpu_);
  m.impl("copy_", &copy);
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_from_and_resize);
  m.impl("_local_scalar_dense", &item);
  m.impl("record_stream", &record_stream);
  // One kernel on CUDA; several operators on devices that LibTorch does not know.
  for (const char* name : {"silu_backward", "mish_backward", "_foreach_copy_"})
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
  m.impl("native_batch_norm_backward",
         torch::CppFunction::makeFromBoxedFunction<&strict_batch_norm_backward>());
  m.impl("adaptive_max_pool2d_backward",
         torch::CppFunction::makeFromBoxedFunction<&random_order_max_pool_backward>());
}

}  // namespace
}  // namespace ddptrain::simulated
