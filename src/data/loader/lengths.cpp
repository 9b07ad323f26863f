#include "data/loader/lengths.h"

#include <algorithm>
#include <numeric>

namespace ddptrain {
namespace {

bool all_alike(const Dataset& data, Split split) {
  return data.size(split) == 0 || data.length(split, 0) == 0;
}

std::vector<std::int64_t> in_order(std::int64_t n) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::int64_t longest(const Micro& micro, const std::vector<std::int64_t>& lengths) {
  std::int64_t most = 0;
  for (const auto position : micro.positions)
    most = std::max(most, lengths.at(static_cast<std::size_t>(position)));
  return most;
}

}  // namespace

std::vector<std::int64_t> lengths_of(const Dataset& data, Split split) {
  if (all_alike(data, split)) return {};
  return lengths_of(data, split, in_order(data.size(split)));
}

std::vector<std::int64_t> lengths_of(const Dataset& data, Split split,
                                     const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> lengths;
  if (all_alike(data, split)) return lengths;
  lengths.reserve(order.size());
  for (const auto index : order) lengths.push_back(data.length(split, index));
  return lengths;
}

std::vector<std::int64_t> longest_first(const Dataset& data, Split split) {
  auto order = in_order(data.size(split));
  if (all_alike(data, split)) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return data.length(split, a) > data.length(split, b);
  });
  return order;
}

std::vector<std::int64_t> step_lengths(const std::vector<std::int64_t>& lengths,
                                       const ShardPlan& plan) {
  std::vector<std::int64_t> most;
  if (lengths.empty()) return most;
  const auto positions = static_cast<std::int64_t>(lengths.size());
  for (std::int64_t rank = 0; rank < plan.world; ++rank) {
    const auto steps = shard(positions, plan, rank);
    most.resize(std::max(most.size(), steps.size()));
    for (std::size_t k = 0; k < steps.size(); ++k)
      for (const auto& micro : steps[k]) most[k] = std::max(most[k], longest(micro, lengths));
  }
  return most;
}

void set_lengths(RankPlan& steps, const std::vector<std::int64_t>& step_lengths) {
  if (step_lengths.empty()) return;
  for (std::size_t k = 0; k < steps.size(); ++k)
    for (auto& micro : steps[k]) micro.length = step_lengths.at(k);
}

void set_lengths(std::vector<Micro>& micros, const std::vector<std::int64_t>& lengths) {
  if (lengths.empty()) return;
  for (auto& micro : micros) micro.length = longest(micro, lengths);
}

}  // namespace ddptrain
