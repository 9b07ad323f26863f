// Codes of names: a hash table of views, open addressing. Torch-free.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ddptrain {

/// Names must outlive the dictionary.
class Dictionary {
 public:
  Dictionary() : slots_(16) {}

  /// The code of a name; a new one takes `fresh`.
  std::int32_t find_or_add(std::string_view name, std::int32_t fresh);
  /// How many names it holds.
  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::string_view name;
    std::uint64_t head = 0;  // the first eight bytes: nearly all that tells short names apart
    std::uint32_t hash = 0;  // 0: free
    std::int32_t code = 0;
  };
  void grow();

  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  std::size_t size_ = 0;
};

}  // namespace ddptrain
