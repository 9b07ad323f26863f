#include "text/words.h"

#include <algorithm>

#include "base/files/first_bytes.h"

namespace ddptrain {
namespace {

constexpr std::size_t block_bytes = 1 << 16;

constexpr std::uint32_t last_byte = 255;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t bytes) {
  __extension__ using Wide = unsigned __int128;  // as wyhash does it
  const auto product = static_cast<Wide>(hash ^ bytes) * 0xd6e8feb86659fd93U;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

inline Words::Slot Words::key_of(std::string_view word) {
  Slot key;
  key.head = first_bytes(word);
  const auto length = std::min<std::size_t>(word.size(), last_byte);
  auto hash = mixed(0x9e3779b97f4a7c15U + word.size(), key.head);
  for (std::size_t at = 8; at < word.size(); at += 8)
    hash = mixed(hash, first_bytes(word.substr(at)));
  key.hash = static_cast<std::uint32_t>(hash >> 32 & ~std::uint64_t{last_byte}) |
             static_cast<std::uint32_t>(length);
  return key;
}

inline std::size_t Words::slot_of(std::string_view word, const Slot& key) const {
  const auto mask = slots_.size() - 1;
  auto at = key.hash / (last_byte + 1) & mask;
  for (; slots_[at].number != 0; at = (at + 1) & mask) {
    const auto& slot = slots_[at];
    if (slot.hash != key.hash || slot.head != key.head) continue;
    if (word.size() <= 8 || words_[slot.number - 1] == word) break;
  }
  return at;
}

inline std::uint32_t Words::add(std::string_view word, const Slot& key) {
  auto& slot = slots_[slot_of(word, key)];
  if (slot.number != 0) return slot.number - 1;
  slot = key;
  const auto number = slot.number = append(word);
  if (2 * words_.size() > slots_.size()) grow();
  return number - 1;
}

std::uint32_t Words::add(std::string_view word) { return add(word, key_of(word)); }

void Words::add(std::span<const std::string_view> words, std::uint32_t* numbers) {
  for (const auto word : words) *numbers++ = add(word, key_of(word));
}

std::uint32_t Words::append(std::string_view word) {
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < word.size()) {
    blocks_.emplace_back();
    blocks_.back().reserve(std::max(block_bytes, word.size()));
  }
  auto& block = blocks_.back();
  block += word;
  words_.push_back(std::string_view(block).substr(block.size() - word.size()));
  return static_cast<std::uint32_t>(words_.size());
}

std::int64_t Words::find(std::string_view word) const {
  return static_cast<std::int64_t>(slots_[slot_of(word, key_of(word))].number) - 1;
}

void Words::grow() {
  auto before = std::vector<Slot>(4 * slots_.size());
  before.swap(slots_);
  const auto mask = slots_.size() - 1;
  for (const auto& slot : before) {
    if (slot.number == 0) continue;
    auto at = slot.hash / (last_byte + 1) & mask;
    while (slots_[at].number != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace ddptrain
