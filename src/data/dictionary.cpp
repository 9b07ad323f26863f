#include "data/dictionary.h"

#include "base/first_bytes.h"

namespace ddptrain {
namespace {

std::uint64_t stir(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15U;  // Fibonacci hashing (Knuth, 6.4)
  return value ^ value >> 32;
}

std::uint32_t hash_of(std::string_view name, std::uint64_t head) {
  auto hash = stir(head ^ name.size());
  for (std::size_t at = 8; at + 8 < name.size(); at += 8)
    hash = stir(hash ^ load_bytes<std::uint64_t>(name.data() + at));
  if (name.size() > 8) hash = stir(hash ^ load_bytes<std::uint64_t>(name.data() + name.size() - 8));
  return static_cast<std::uint32_t>(hash) | 1U;
}

/// Of two names of one size and with one head.
bool same_rest(std::string_view a, std::string_view b) {
  if (a.size() <= 8) return true;
  for (std::size_t at = 8; at + 8 < a.size(); at += 8)
    if (load_bytes<std::uint64_t>(a.data() + at) != load_bytes<std::uint64_t>(b.data() + at))
      return false;
  return load_bytes<std::uint64_t>(a.data() + a.size() - 8) ==
         load_bytes<std::uint64_t>(b.data() + b.size() - 8);
}

}  // namespace

std::int32_t Dictionary::find_or_add(std::string_view name, std::int32_t fresh) {
  const auto head = first_bytes(name);
  const auto hash = hash_of(name, head);
  const auto mask = slots_.size() - 1;
  for (std::size_t at = hash >> 1;; ++at) {
    auto& slot = slots_[at & mask];
    if (slot.hash == hash && slot.head == head && slot.name.size() == name.size() &&
        same_rest(slot.name, name))
      return slot.code;
    if (slot.hash != 0) continue;
    slot = {name, head, hash, fresh};
    if (2 * ++size_ > slots_.size()) grow();
    return fresh;
  }
}

void Dictionary::grow() {
  std::vector<Slot> wider(2 * slots_.size());
  for (const auto& slot : slots_) {
    if (slot.hash == 0) continue;
    std::size_t at = slot.hash >> 1;
    while (wider[at & (wider.size() - 1)].hash != 0) ++at;
    wider[at & (wider.size() - 1)] = slot;
  }
  slots_.swap(wider);
}

}  // namespace ddptrain
