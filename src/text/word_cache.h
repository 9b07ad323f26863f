// The tokens of words that a text has had before: most words of a language are among them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/words.h"

namespace ddptrain {

/// Of one tokenizer at a time; of bounded size.
class WordCache {
 public:
  /// Forgets everything unless it is `owner`'s already.
  void belong_to(std::uint64_t owner) {
    if (owner_ == owner) return;
    clear();
    owner_ = owner;
  }

  /// Appends the ids of `word` to `ids`. Where they are not known, `tokenize` appends them.
  template <class Tokenize>
  void append(std::string_view word, std::vector<std::int32_t>& ids, Tokenize tokenize) {
    if (word.size() > longest_word) return tokenize();
    const auto number = words_.add(word);
    if (number < known_.size()) {
      const auto [count, first] = known_[number];
      if (count == 1) return ids.push_back(first);
      ids.insert(ids.end(), ids_.begin() + first, ids_.begin() + first + count);
      return;
    }
    const auto before = ids.size();
    tokenize();
    const auto count = static_cast<std::int32_t>(ids.size() - before);
    known_.push_back({count, count == 1 ? ids.back() : static_cast<std::int32_t>(ids_.size())});
    if (count > 1) ids_.insert(ids_.end(), ids.end() - count, ids.end());
    if (known_.size() == most_words) clear();
  }

 private:
  /// The only id of a word, or the place of the first of several in ids_.
  struct Known {
    std::int32_t count, first;
  };

  static constexpr std::size_t longest_word = 64;  // bytes
  static constexpr std::size_t most_words = 1 << 17;

  void clear() {
    words_ = Words();
    known_.clear();
    ids_.clear();
  }

  std::uint64_t owner_ = 0;
  Words words_;
  std::vector<Known> known_;  // by the word's number
  std::vector<std::int32_t> ids_;
};

}  // namespace ddptrain
