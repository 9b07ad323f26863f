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
    if (number < ends_.size()) {
      const auto first = number == 0 ? 0 : ends_[number - 1];
      ids.insert(ids.end(), ids_.begin() + first, ids_.begin() + ends_[number]);
      return;
    }
    const auto before = static_cast<std::ptrdiff_t>(ids.size());
    tokenize();
    ids_.insert(ids_.end(), ids.begin() + before, ids.end());
    ends_.push_back(static_cast<std::ptrdiff_t>(ids_.size()));
    if (ends_.size() == most_words) clear();
  }

 private:
  static constexpr std::size_t longest_word = 64;  // bytes
  static constexpr std::size_t most_words = 1 << 17;

  void clear() {
    words_ = Words();
    ends_.clear();
    ids_.clear();
  }

  std::uint64_t owner_ = 0;
  Words words_;
  std::vector<std::ptrdiff_t> ends_;  // in ids_, by word
  std::vector<std::int32_t> ids_;
};

}  // namespace ddptrain
