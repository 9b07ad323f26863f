// Numbers of the host in memory of a device that stays where it is: a graph reads them there.
#include "optim/device_numbers.h"

#include <ATen/ops/empty.h>

#include <algorithm>

namespace ddptrain {

void DeviceNumbers::reserve(std::int64_t count, at::Device device) {
  if (there_.defined() && there_.size(0) == count && there_.device() == device) return;
  there_ = at::empty({count}, at::TensorOptions(device).dtype(at::kFloat));
  last_.clear();
}

void DeviceNumbers::upload(const std::vector<float>& numbers) {
  if (numbers == last_) return;
  const auto pinned =
      at::empty(there_.sizes(), at::TensorOptions().dtype(at::kFloat).pinned_memory(true));
  std::copy(numbers.begin(), numbers.end(), pinned.mutable_data_ptr<float>());
  there_.copy_(pinned, /*non_blocking=*/true);
  last_ = numbers;
}

at::Tensor DeviceNumbers::at(std::size_t index) const {
  return there_.select(0, static_cast<std::int64_t>(index));
}

}  // namespace ddptrain
