#include "train/graph/graph_ranks.h"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "base/random.h"
#include "distributed/world.h"

namespace ddptrain {
namespace {

constexpr int kBits = 40;  // of a hash: a double adds those of 8,000 ranks without rounding

double hash_of(const GraphShapes::Shape& shape, std::uint64_t seed) {
  for (const auto number : shape) seed = mix(seed, static_cast<std::uint64_t>(number));
  return static_cast<double>(seed >> (64 - kBits));
}

}  // namespace

bool GraphRanks::any(bool here) const {
  if (world_.size == 1) return here;
  auto sum = at::tensor({here ? 1.0 : 0.0}, at::kDouble);
  world_.control->all_reduce(sum);
  return sum.const_data_ptr<double>()[0] > 0;
}

JointStep GraphRanks::joint(const std::optional<GraphShapes::Shape>& shape,
                            bool is_of_another_model) const {
  if (world_.size == 1) return {shape, is_of_another_model};
  auto sums = at::zeros({4}, at::kDouble);
  auto* const sum = sums.mutable_data_ptr<double>();
  sum[0] = shape ? 0 : 1;
  sum[1] = is_of_another_model ? 1 : 0;
  const auto seed = 2 * static_cast<std::uint64_t>(world_.rank);
  if (shape) sum[2] = hash_of(*shape, seed);
  if (shape) sum[3] = hash_of(*shape, seed + 1);
  world_.control->all_reduce(sums);
  JointStep step{{}, sum[1] > 0};
  if (sum[0] == 0)
    step.shape = {static_cast<std::int64_t>(sum[2]), static_cast<std::int64_t>(sum[3])};
  return step;
}

}  // namespace ddptrain
