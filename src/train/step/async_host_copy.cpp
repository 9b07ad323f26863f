#include "train/step/async_host_copy.h"

#include <ATen/ops/empty.h>

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

}  // namespace ddptrain
