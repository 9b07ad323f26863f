#include "jobs/bench/machine_limits.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "base/clock.h"

namespace ddptrain {
namespace {

constexpr int kRepetitions = 8;
constexpr double kLongEnough = 0.002;  // seconds: what it costs to start a kernel is little

/// Waits until a device has computed it.
void wait_for(const at::Tensor& result) { result.flatten()[0].item(); }

double best_seconds(const at::Tensor& result, const std::function<void()>& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRepetitions; ++i) {
    const Stopwatch watch;
    work();
    wait_for(result);
    best = std::min(best, watch.seconds());
  }
  return best;
}

/// A matrix that is large enough for the machine: a product takes a while, or it is the largest.
double product_flops(const at::TensorOptions& options) {
  for (std::int64_t size = 1024;; size *= 2) {
    const auto a = at::ones({size, size}, options), b = at::ones({size, size}, options);
    auto product = at::empty({size, size}, options);
    const double seconds = best_seconds(product, [&] { at::mm_out(product, a, b); });
    const auto side = static_cast<double>(size);
    if (seconds > kLongEnough || size >= 8192) return 2 * side * side * side / seconds;
  }
}

double triad_bytes(c10::Device device) {
  const auto options = at::TensorOptions(device).dtype(at::kFloat);
  for (std::int64_t size = std::int64_t{1} << 24;; size *= 4) {
    const auto b = at::ones({size}, options), c = at::ones({size}, options);
    auto a = at::empty({size}, options);
    const double seconds = best_seconds(a, [&] { at::add_out(a, b, c, 2); });
    if (seconds > kLongEnough || size >= std::int64_t{1} << 28)
      return 3 * sizeof(float) * static_cast<double>(size) / seconds;
  }
}

}  // namespace

MachineLimits measure_limits(c10::Device device, c10::ScalarType type) {
  return {product_flops(at::TensorOptions(device).dtype(type)), triad_bytes(device)};
}

}  // namespace ddptrain
