#include "distributed/numerics.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

#include <cmath>
#include <limits>

namespace ddptrain {

std::optional<at::ScalarType> travelling_type(const Numerics& numerics) {
  if (numerics.autocast != numerics.evaluation_autocast) return {};
  return numerics.autocast;
}

Autocast::Autocast(at::DeviceType device, std::optional<at::ScalarType> type)
    : device_(device), active_(type.has_value()) {
  if (!active_) return;
  was_enabled_ = at::autocast::is_autocast_enabled(device_);
  was_type_ = at::autocast::get_autocast_dtype(device_);
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::set_autocast_dtype(device_, *type);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (!active_) return;
  // The cache holds this pass' casts of the weights; the next step has other weights.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, was_enabled_);
  at::autocast::set_autocast_dtype(device_, was_type_);
}

at::Tensor prepared(const at::Tensor& tensor, const Numerics& numerics, at::Device device) {
  const auto type = tensor.is_floating_point() ? numerics.parameters : tensor.scalar_type();
  auto moved = tensor.to(device).to(type);  // fewer bytes travel, and the device converts them
  if (numerics.channels_last && moved.dim() == 4)
    moved = moved.contiguous(at::MemoryFormat::ChannelsLast);
  return moved;
}

bool all_finite(const std::vector<at::Tensor>& tensors) {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<at::Tensor> filled;  // nothing has no largest value
  for (const auto& tensor : tensors)
    if (tensor.numel() > 0) filled.push_back(tensor);
  if (filled.empty()) return true;
  const auto largest = at::stack(at::_foreach_norm(filled, infinity));
  return std::isfinite(at::linalg_vector_norm(largest, infinity).item<double>());
}

}  // namespace ddptrain
