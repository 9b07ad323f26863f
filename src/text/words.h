// A set of words that count from 0 in the order in which they came: the dictionary behind a
// vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

class Words {
 public:
  Words() = default;
  Words(Words&&) = default;  // a copy's words would be views of the other's memory
  Words& operator=(Words&&) = default;
  /// The word's number, given to it now where it is new.
  std::uint32_t add(std::string_view word);
  /// The same for many words; `numbers` has room for as many.
  void add(std::span<const std::string_view> words, std::uint32_t* numbers);
  /// -1 where there is no such word.
  std::int64_t find(std::string_view word) const;
  std::string_view operator[](std::size_t number) const { return words_[number]; }
  std::size_t size() const { return words_.size(); }

 private:
  /// Short words are distinguished by what stands here, without a look elsewhere in memory.
  struct Slot {
    std::uint64_t head = 0;    // the first 8 bytes
    std::uint32_t hash = 0;    // its last byte is the length, at most 255
    std::uint32_t number = 0;  // from 1; 0: free
  };
  static Slot key_of(std::string_view word);
  std::size_t slot_of(std::string_view word, const Slot& key) const;
  std::uint32_t add(std::string_view word, const Slot& key);
  std::uint32_t append(std::string_view word);
  void grow();

  std::vector<Slot> slots_ = std::vector<Slot>(1024);  // a power of 2
  std::vector<std::string_view> words_;
  std::deque<std::string> blocks_;  // what the words are views of
};

}  // namespace ddptrain
