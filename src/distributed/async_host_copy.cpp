#include "distributed/async_host_copy.h"

#include <ATen/ops/empty.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <thread>

namespace ddptrain {

AsyncHostCopy::AsyncHostCopy(const at::Tensor& values) : values_(values) {
  const auto device = values.device();
  if (device.is_cpu()) return;
  values_ = at::empty(values.sizes(), at::TensorOptions(values.dtype()).pinned_memory(true));
  values_.copy_(values, /*non_blocking=*/true);
  copied_.emplace(device.type());
  copied_->record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
}

const at::Tensor& AsyncHostCopy::wait() {
  if (copied_) copied_->synchronize();
  copied_.reset();
  return values_;
}

bool AsyncHostCopy::arrives_within(std::chrono::milliseconds limit) const {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPause = std::chrono::microseconds(50);
  const auto end = Clock::now() + limit;
  while (copied_ && !copied_->query()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

}  // namespace ddptrain
