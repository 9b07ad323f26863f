// Short texts in memory that several processes read and write.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace ddptrain {

/// Text of at most `Bytes` bytes, word by word atomic: a reader may see a part of an older text,
/// never anything else.
template <std::size_t Bytes>
class SharedText {
 public:
  void set(std::string_view text) {
    std::array<std::uint64_t, Bytes / 8> words{};
    std::memcpy(words.data(), text.data(), std::min(text.size(), Bytes));
    for (std::size_t i = 0; i < words.size(); ++i)
      words_[i].store(words[i], std::memory_order_relaxed);
    length_.store(std::min(text.size(), Bytes), std::memory_order_release);
  }
  std::string get() const {
    std::string text(length_.load(std::memory_order_acquire), '\0');
    std::array<std::uint64_t, Bytes / 8> words;
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = words_[i].load(std::memory_order_relaxed);
    std::memcpy(text.data(), words.data(), std::min(text.size(), Bytes));
    return text;
  }

 private:
  std::array<std::atomic<std::uint64_t>, Bytes / 8> words_{};
  std::atomic<std::size_t> length_{0};
};

}  // namespace ddptrain
