#include "sources/order/length_order.h"

#include <algorithm>
#include <numeric>

namespace ddptrain {
namespace {

using Order = std::vector<std::int64_t>;

void sort_falling(Order::iterator first, Order::iterator last, const Order& lengths) {
  std::stable_sort(first, last, [&](std::int64_t a, std::int64_t b) {
    return lengths[static_cast<std::size_t>(a)] > lengths[static_cast<std::size_t>(b)];
  });
}

void sort_chunks(Order& order, const Order& lengths, std::int64_t size) {
  const auto n = static_cast<std::int64_t>(order.size());
  for (std::int64_t first = 0; first < n; first += size)
    sort_falling(order.begin() + first, order.begin() + std::min(n, first + size), lengths);
}

/// Deals a sorted list to two halves as 0 1 1 0 0 1 1 0 ..., then each half in itself: sums of its
/// halves, quarters and so on are nearly equal.
Order dealt(const Order& sorted) {
  if (sorted.size() < 3) return sorted;
  Order halves[2];
  for (std::size_t i = 0; i < sorted.size(); ++i) halves[(i + 1) / 2 % 2].push_back(sorted[i]);
  auto all = dealt(halves[0]);
  const auto second = dealt(halves[1]);
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

Order part(const Order& order, std::int64_t first, std::int64_t last) {
  return {order.begin() + first, order.begin() + last};
}

void append(Order& all, const Order& more) { all.insert(all.end(), more.begin(), more.end()); }

}  // namespace

std::int64_t balanced_batches(std::int64_t samples, std::int64_t batch) {
  return std::max<std::int64_t>(0, samples / batch - 1);
}

std::int64_t fastai_batches(std::int64_t samples, std::int64_t batch) {
  return std::max<std::int64_t>(0, (samples + batch - 1) / batch - 2);
}

std::vector<std::int64_t> balanced_order(const std::vector<std::int64_t>& lengths,
                                         const LengthOrder& parts,
                                         const std::vector<std::int64_t>& shuffled) {
  const auto samples = static_cast<std::int64_t>(lengths.size());
  const auto left_over = samples % parts.batch, batches = samples / parts.batch;
  auto last = part(parts.permutation, 0, left_over);
  auto rest = part(parts.permutation, left_over, samples);
  sort_falling(last.begin(), last.end(), lengths);
  sort_chunks(rest, lengths, parts.chunk * parts.batch);
  Order starts;  // of the batches, the one with the longest sample first
  for (std::int64_t b = 0; b < batches; ++b) starts.push_back(b * parts.batch);
  const auto longest = std::max_element(starts.begin(), starts.end(), [&](auto a, auto b) {
    const auto length = [&](auto at) {
      return lengths[static_cast<std::size_t>(rest[static_cast<std::size_t>(at)])];
    };
    return length(a) < length(b);
  });
  if (!starts.empty()) std::iter_swap(starts.begin(), longest);
  Order order;
  order.reserve(lengths.size());
  for (std::int64_t b = 0; b < batches; ++b) {
    const auto which = b == 0 ? 0 : 1 + shuffled.at(static_cast<std::size_t>(b - 1));
    const auto first = starts[static_cast<std::size_t>(which)];
    append(order, dealt(part(rest, first, first + parts.batch)));
  }
  append(order, dealt(last));
  return order;
}

std::vector<std::int64_t> fastai_order(const std::vector<std::int64_t>& lengths, LengthOrder parts,
                                       const std::vector<std::int64_t>& shuffled) {
  auto& sorted = parts.permutation;
  if (sorted.empty()) return sorted;
  const auto longest = std::max_element(lengths.begin(), lengths.end()) - lengths.begin();
  std::iter_swap(sorted.begin(), std::find(sorted.begin(), sorted.end(), longest));
  sort_chunks(sorted, lengths, parts.chunk * parts.batch);
  const auto samples = static_cast<std::int64_t>(sorted.size());
  auto order = part(sorted, 0, std::min(samples, parts.batch));
  for (const auto batch : shuffled)
    append(order, part(sorted, (batch + 1) * parts.batch, (batch + 2) * parts.batch));
  append(order, part(sorted, static_cast<std::int64_t>(order.size()), samples));
  return order;
}

std::vector<std::int64_t> falling_order(const std::vector<std::int64_t>& lengths) {
  Order order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  sort_falling(order.begin(), order.end(), lengths);
  return order;
}

}  // namespace ddptrain
