// Codes of names: a hash table of views, open addressing.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace ddptrain {

/// The first and the last eight bytes of a name, or twice all there are: they distinguish nearly
/// all short names.
struct NameEnds {
  std::uint64_t head = 0, tail = 0;

  static NameEnds of(std::string_view name);
  /// The same without a jump, where eight bytes from its first on and eight before its end may be
  /// read.
  static NameEnds amid_text(std::string_view name) {
    NameEnds ends;
    std::memcpy(&ends.head, name.data(), sizeof ends.head);
    std::memcpy(&ends.tail, name.data() + name.size() - sizeof ends.tail, sizeof ends.tail);
    const bool is_short = name.size() < sizeof ends.head;
    const auto bytes = (std::uint64_t{1} << (8 * name.size() & 63)) - 1;
    ends.head &= is_short ? bytes : ~std::uint64_t{0};
    ends.tail = is_short ? ends.head : ends.tail;
    return ends;
  }
  bool operator==(const NameEnds&) const = default;
};

/// Names must outlive the dictionary.
class Dictionary {
 public:
  Dictionary() : slots_(256) {}

  /// The code of a name; a new one takes `fresh`.
  std::int32_t find_or_add(std::string_view name, std::int32_t fresh) {
    return find_or_add(name, NameEnds::of(name), fresh);
  }
  std::int32_t find_or_add(std::string_view name, const NameEnds& ends, std::int32_t fresh) {
    const auto hash = hash_of(name, ends);
    for (std::size_t at = hash >> 1;; ++at) {
      const auto& slot = slots_[at & mask_];
      if (slot.hash == hash && slot.ends == ends && slot.name.size() == name.size() &&
          (name.size() <= 16 || same_middle(slot.name, name)))
        return slot.code;
      if (slot.hash == 0) return add({name, ends, hash, fresh});
    }
  }
  /// How many names it holds.
  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::string_view name;
    NameEnds ends;
    std::uint32_t hash = 0;  // 0: free
    std::int32_t code = 0;
  };
  static constexpr std::uint64_t factor = 0x9e3779b97f4a7c15U;
  static std::uint32_t hash_of(std::string_view name, const NameEnds& ends) {
    auto hash = ends.head * factor;  // Fibonacci hashing (Knuth, 6.4)
    hash = (hash ^ hash >> 32 ^ ends.tail) * factor;
    if (name.size() > 16) hash += middle_hash(name);
    return static_cast<std::uint32_t>(hash >> 32) | 1U;
  }
  static std::uint64_t middle_hash(std::string_view name);
  static bool same_middle(std::string_view a, std::string_view b);
  std::int32_t add(const Slot& fresh);
  void put(const Slot& slot);

  std::vector<Slot> slots_;  // a power of two, at most a quarter of them taken
  std::size_t mask_ = 255;   // how many slots there are, less one
  std::size_t size_ = 0;
};

}  // namespace ddptrain
