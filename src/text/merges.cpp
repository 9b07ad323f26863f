#include "text/merges.h"

namespace ddptrain {

void Merges::add(std::int32_t first, std::int32_t second, Merge merge) {
  const auto pair = pair_of(first, second);
  auto& slot = slots_[slot_of(pair)];
  if (!slot.merge.exists()) ++size_;
  slot = {pair, merge};
  if (2 * size_ <= slots_.size()) return;
  auto before = std::vector<Slot>(4 * slots_.size());
  before.swap(slots_);
  for (const auto& old : before)
    if (old.merge.exists()) slots_[slot_of(old.pair)] = old;
}

}  // namespace ddptrain
