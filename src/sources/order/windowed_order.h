// An order that reads a few shards at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace ddptrain {

/// Shards are permuted by (seed, epoch); `window` consecutive ones form a window, the last may have
/// fewer; the samples of a window are permuted. So which sample stands at a position is a function
/// of seed, epoch and position alone.
class WindowedOrder {
 public:
  /// `shard_of` gives the shard of each of `samples` samples, from 0. window > 0.
  WindowedOrder(std::int64_t samples, const std::function<std::int64_t(std::int64_t)>& shard_of,
                std::int64_t window, std::uint64_t seed);

  std::int64_t windows() const;
  /// The samples of a window of an epoch, in their order.
  std::vector<std::int64_t> samples_of(std::int64_t window, std::int64_t epoch) const;
  /// The samples of all windows, one after the other.
  std::vector<std::int64_t> all(std::int64_t epoch) const;

 private:
  std::vector<std::int64_t> shards(std::int64_t epoch) const;
  std::vector<std::int64_t> window_of(const std::vector<std::int64_t>& shards, std::int64_t window,
                                      std::int64_t epoch) const;

  std::vector<std::int64_t> samples_;  // by shard, then by number
  std::vector<std::int64_t> first_;    // of each shard in samples_, and their number at the end
  std::int64_t window_;
  std::uint64_t seed_;
};

}  // namespace ddptrain
