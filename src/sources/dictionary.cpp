#include "sources/dictionary.h"

#include <algorithm>

namespace ddptrain {
namespace {

std::uint64_t load(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

}  // namespace

NameEnds NameEnds::of(std::string_view name) {
  if (name.size() >= sizeof(std::uint64_t))
    return {load(name.data()), load(name.data() + name.size() - sizeof(std::uint64_t))};
  NameEnds ends;
  std::copy(name.begin(), name.end(), reinterpret_cast<char*>(&ends.head));
  ends.tail = ends.head;
  return ends;
}

std::uint64_t Dictionary::middle_hash(std::string_view name) {
  std::uint64_t hash = 0;
  for (std::size_t at = 8; at + 8 < name.size(); at += 8) {
    hash = (hash ^ load(name.data() + at)) * factor;
    hash ^= hash >> 32;
  }
  return hash * factor;
}

bool Dictionary::same_middle(std::string_view a, std::string_view b) {
  return a.substr(8, a.size() - 16) == b.substr(8, b.size() - 16);
}

std::int32_t Dictionary::add(const Slot& fresh) {
  if (4 * ++size_ > slots_.size()) {
    std::vector<Slot> narrow(2 * slots_.size());
    slots_.swap(narrow);
    mask_ = slots_.size() - 1;
    for (const auto& slot : narrow)
      if (slot.hash != 0) put(slot);
  }
  put(fresh);
  return fresh.code;
}

/// A name that is not there yet.
void Dictionary::put(const Slot& slot) {
  std::size_t at = slot.hash >> 1;
  while (slots_[at & mask_].hash != 0) ++at;
  slots_[at & mask_] = slot;
}

}  // namespace ddptrain
