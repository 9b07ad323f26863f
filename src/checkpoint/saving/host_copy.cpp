#include "checkpoint/saving/host_copy.h"

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

HostCopy::HostCopy(const CheckpointParts& parts) : copy_(parts) {
  for (const auto& file : kTensorFiles) issue(copy_.*file.parts);
  for (const auto device : devices_) follow(device);
}

const CheckpointParts& HostCopy::get() const {
  for (const auto& event : events_) event.synchronize();
  return copy_;
}

void HostCopy::issue(std::vector<TensorPart>& parts) {
  for (auto& part : parts) {
    const auto device = part.elements.device();
    part.elements = host_copy(part.elements);
    if (!device.is_cpu() && std::ranges::find(devices_, device) == devices_.end())
      devices_.push_back(device);
  }
}

void HostCopy::follow(at::Device device) {
  const c10::impl::VirtualGuardImpl guard(device.type());
  events_.emplace_back(device.type());
  events_.back().record(guard.getStream(device));
}

}  // namespace ddptrain
