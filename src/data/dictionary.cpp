#include "data/dictionary.h"

#include <cstring>

namespace ddptrain {
namespace {

std::uint64_t stir(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15U;  // Fibonacci hashing (Knuth, 6.4)
  return value ^ value >> 32;
}

std::uint32_t hash_of(std::string_view name) {
  std::uint64_t hash = name.size(), word = 0;
  for (; name.size() > sizeof word; name.remove_prefix(sizeof word)) {
    std::memcpy(&word, name.data(), sizeof word);
    hash = stir(hash ^ word);
  }
  word = 0;
  std::memcpy(&word, name.data(), name.size());
  return static_cast<std::uint32_t>(stir(hash ^ word)) | 1U;
}

}  // namespace

std::int32_t Dictionary::find_or_add(std::string_view name, std::int32_t fresh) {
  const auto hash = hash_of(name);
  const auto mask = slots_.size() - 1;
  for (std::size_t at = hash >> 1;; ++at) {
    auto& slot = slots_[at & mask];
    if (slot.hash == hash && slot.name == name) return slot.code;
    if (slot.hash != 0) continue;
    slot = {name, hash, fresh};
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
