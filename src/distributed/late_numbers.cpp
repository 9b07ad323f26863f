#include "distributed/late_numbers.h"

#include <ATen/ops/empty.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <thread>

namespace ddptrain {

LateNumbers::LateNumbers(const at::Tensor& numbers) : host_(numbers) {
  const auto device = numbers.device();
  if (device.is_cpu()) return;
  host_ = at::empty(numbers.sizes(), at::TensorOptions(numbers.dtype()).pinned_memory(true));
  host_.copy_(numbers, /*non_blocking=*/true);
  arrived_.emplace(device.type());
  arrived_->record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
}

bool LateNumbers::come_within(std::chrono::milliseconds limit) const {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPause = std::chrono::microseconds(50);
  const auto end = Clock::now() + limit;
  while (arrived_ && !arrived_->query()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

const at::Tensor& LateNumbers::read() {
  if (arrived_) arrived_->synchronize();
  arrived_.reset();
  return host_;
}

}  // namespace ddptrain
