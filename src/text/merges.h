// The pairs of symbols that byte-pair encoding joins.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace ddptrain {

/// Two neighbors become `joined`; the lowest rank first.
struct Merge {
  std::int32_t rank = std::numeric_limits<std::int32_t>::max();
  std::int32_t joined = -1;
  bool exists() const { return joined >= 0; }
};

class Merges {
 public:
  /// Of a pair that is added twice the last merge counts.
  void add(std::int32_t first, std::int32_t second, Merge merge);
  /// One that does not exist where the pair stays apart.
  Merge find(std::int32_t first, std::int32_t second) const {
    return slots_[slot_of(pair_of(first, second))].merge;
  }

 private:
  struct Slot {
    std::uint64_t pair = 0;
    Merge merge;  // none: free
  };
  static std::uint64_t pair_of(std::int32_t first, std::int32_t second) {
    return static_cast<std::uint64_t>(first) << 32 | static_cast<std::uint32_t>(second);
  }
  std::size_t slot_of(std::uint64_t pair) const {
    const auto mask = slots_.size() - 1;
    auto at = static_cast<std::size_t>((pair * 0x9e3779b97f4a7c15U) >> 32) & mask;
    while (slots_[at].merge.exists() && slots_[at].pair != pair) at = (at + 1) & mask;
    return at;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);  // a power of 2
  std::size_t size_ = 0;
};

}  // namespace ddptrain
