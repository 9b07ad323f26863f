#include "sources/order/torch_order.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/names.h"

namespace ddptrain {

std::span<const std::string_view> names(OrderRule) { return kNameList<"philox", "torch">; }

std::uint64_t TorchGenerator::random64() {
  const std::uint64_t upper = random();
  return upper << 32 | random();
}

double TorchGenerator::uniform() {
  constexpr std::uint64_t mask = (std::uint64_t(1) << 53) - 1;
  return static_cast<double>(random64() & mask) / static_cast<double>(mask + 1);
}

// aten/src/ATen/native/TensorFactories.cpp, randperm_cpu: a biased modulo, kept as it is.
std::vector<std::int64_t> torch_randperm(std::int64_t n, TorchGenerator& generator) {
  constexpr std::int64_t limit = std::numeric_limits<std::uint32_t>::max() / 20;
  if (n >= limit)
    throw Error(Exit::recipe, "'order: torch' takes fewer than {} samples; write 'order: philox'",
                limit);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + generator.random() % (order.size() - i)]);
  return order;
}

// aten/src/ATen/native/cpu/MultinomialKernel.cpp: a binary search in normalized running sums.
std::vector<std::int64_t> torch_multinomial(const std::vector<double>& weights, std::int64_t draws,
                                            TorchGenerator& generator) {
  std::vector<double> sums(weights.size());
  std::partial_sum(weights.begin(), weights.end(), sums.begin());
  const double total = sums.back();
  for (auto& sum : sums) sum /= total;
  sums.back() = 1;
  std::vector<std::int64_t> order(static_cast<std::size_t>(draws));
  for (auto& drawn : order)
    drawn = std::lower_bound(sums.begin(), sums.end(), generator.uniform()) - sums.begin();
  return order;
}

}  // namespace ddptrain
