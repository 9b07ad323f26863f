#include "distributed/numerics.h"

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/clones.h"

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

namespace {

constexpr std::int64_t kGrain = 32 * 1024;  // numbers that are worth a thread

#pragma GCC push_options
#pragma GCC optimize("O3")

// The exponent of infinity and NaN has all bits set.
DDPTRAIN_CLONES bool are_finite(const float* values, std::int64_t count) {
  constexpr std::uint32_t exponent = 0x7f800000;
  std::uint32_t found = 0;
  for (std::int64_t i = 0; i < count; ++i)
    found |= (std::bit_cast<std::uint32_t>(values[i]) & exponent) == exponent;
  return found == 0;
}

DDPTRAIN_CLONES bool are_finite(const double* values, std::int64_t count) {
  constexpr std::uint64_t exponent = 0x7ff0'0000'0000'0000;
  std::uint64_t found = 0;
  for (std::int64_t i = 0; i < count; ++i)
    found |= (std::bit_cast<std::uint64_t>(values[i]) & exponent) == exponent;
  return found == 0;
}

#pragma GCC pop_options

template <class T>
bool is_finite_of(const at::Tensor& tensor) {
  const auto* values = tensor.const_data_ptr<T>();
  std::atomic<bool> all = true;
  at::parallel_for(0, tensor.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    if (!are_finite(values + begin, end - begin)) all = false;
  });
  return all;
}

/// On the CPU, of a type and layout that `is_finite_of` reads.
bool is_plain(const at::Tensor& tensor) {
  const auto type = tensor.scalar_type();
  return tensor.is_cpu() && tensor.layout() == at::kStrided &&
         (type == at::kFloat || type == at::kDouble) && tensor.is_non_overlapping_and_dense();
}

}  // namespace

bool all_finite(const std::vector<at::Tensor>& tensors) {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<at::Tensor> others;
  for (const auto& tensor : tensors) {
    if (tensor.numel() == 0) continue;  // nothing has no largest value
    if (!is_plain(tensor))
      others.push_back(tensor);
    else if (!(tensor.scalar_type() == at::kFloat ? is_finite_of<float>(tensor)
                                                  : is_finite_of<double>(tensor)))
      return false;
  }
  if (others.empty()) return true;
  const auto largest = at::stack(at::_foreach_norm(others, infinity));
  return std::isfinite(at::linalg_vector_norm(largest, infinity).item<double>());
}

}  // namespace ddptrain
