#include "sources/order/windowed_order.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/random.h"

namespace ddptrain {

WindowedOrder::WindowedOrder(std::int64_t samples,
                             const std::function<std::int64_t(std::int64_t)>& shard_of,
                             std::int64_t window, std::uint64_t seed)
    : samples_(static_cast<std::size_t>(samples)), window_(window), seed_(seed) {
  DDP_CHECK(window > 0, "a window has a shard");
  std::vector<std::int64_t> shards(samples_.size());
  for (std::int64_t i = 0; i < samples; ++i) shards[static_cast<std::size_t>(i)] = shard_of(i);
  std::iota(samples_.begin(), samples_.end(), 0);
  const auto shard = [&](std::int64_t sample) { return shards[static_cast<std::size_t>(sample)]; };
  std::stable_sort(samples_.begin(), samples_.end(),
                   [&](std::int64_t a, std::int64_t b) { return shard(a) < shard(b); });
  for (std::size_t i = 0; i < samples_.size(); ++i)
    if (i == 0 || shard(samples_[i]) != shard(samples_[i - 1]))
      first_.push_back(static_cast<std::int64_t>(i));
  first_.push_back(samples);
}

std::int64_t WindowedOrder::windows() const {
  return (std::ssize(first_) - 1 + window_ - 1) / window_;
}

std::vector<std::int64_t> WindowedOrder::shards(std::int64_t epoch) const {
  const auto count = std::ssize(first_) - 1;
  Stream random(mix(seed_, hash_text("shuffle of shards")), static_cast<std::uint64_t>(epoch));
  return random_order(count, count, random);
}

std::vector<std::int64_t> WindowedOrder::window_of(const std::vector<std::int64_t>& shards,
                                                   std::int64_t window, std::int64_t epoch) const {
  std::vector<std::int64_t> inside;
  const auto end = std::min((window + 1) * window_, std::ssize(shards));
  for (auto i = window * window_; i < end; ++i) {
    const auto shard = static_cast<std::size_t>(shards[static_cast<std::size_t>(i)]);
    inside.insert(inside.end(), samples_.begin() + first_[shard],
                  samples_.begin() + first_[shard + 1]);
  }
  Stream random(mix(seed_, hash_text("shuffle in a window")), static_cast<std::uint64_t>(epoch),
                static_cast<std::uint64_t>(window));
  auto order = random_order(std::ssize(inside), std::ssize(inside), random);
  for (auto& place : order) place = inside[static_cast<std::size_t>(place)];
  return order;
}

std::vector<std::int64_t> WindowedOrder::samples_of(std::int64_t window, std::int64_t epoch) const {
  return window_of(shards(epoch), window, epoch);
}

std::vector<std::int64_t> WindowedOrder::all(std::int64_t epoch) const {
  const auto permuted = shards(epoch);
  std::vector<std::int64_t> order;
  order.reserve(samples_.size());
  for (std::int64_t window = 0; window < windows(); ++window) {
    const auto part = window_of(permuted, window, epoch);
    order.insert(order.end(), part.begin(), part.end());
  }
  return order;
}

}  // namespace ddptrain
