#include "checkpoint/host_copy.h"

#include <ATen/ops/empty_like.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>

namespace ddptrain {
namespace {

at::Tensor host_copy(const at::Tensor& tensor) {
  const auto source = tensor.detach();
  if (source.is_cpu()) return source.clone();
  auto copy = at::empty_like(source, source.options().device(at::kCPU).pinned_memory(true));
  return copy.copy_(source, /*non_blocking=*/true);
}

}  // namespace

HostCopy::HostCopy(const Checkpoint& checkpoint) {
  copy_.step = checkpoint.step;
  copy_.state = checkpoint.state;
  for (const auto& file : kTensorFiles) copy_.*file.tensors = issued(checkpoint.*file.tensors);
  for (const auto device : devices_) follow(device);
}

const Checkpoint& HostCopy::get() const {
  for (const auto& event : events_) event.synchronize();
  return copy_;
}

std::vector<NamedTensor> HostCopy::issued(const std::vector<NamedTensor>& tensors) {
  std::vector<NamedTensor> copies;
  for (const auto& [name, tensor] : tensors) {
    copies.push_back({name, host_copy(tensor)});
    const auto device = tensor.device();
    if (!device.is_cpu() && std::ranges::find(devices_, device) == devices_.end())
      devices_.push_back(device);
  }
  return copies;
}

void HostCopy::follow(at::Device device) {
  const c10::impl::VirtualGuardImpl guard(device.type());
  events_.emplace_back(device.type());
  events_.back().record(guard.getStream(device));
}

}  // namespace ddptrain
