#include "data/order/random_order.h"

#include <numeric>
#include <utility>

namespace ddptrain {

std::vector<std::int64_t> random_order(std::int64_t n, std::int64_t count, Stream& random) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  const auto drawn = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < drawn && i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + random.below(order.size() - i)]);
  order.resize(drawn);
  return order;
}

}  // namespace ddptrain
