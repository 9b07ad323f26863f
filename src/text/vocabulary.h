// Which number each token has: fitted by frequency on training texts, or given by a tokenizer's
// file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "text/words.h"

namespace ddptrain {

struct VocabularyOptions {
  std::int64_t min_freq = 3;
  std::int64_t max_vocab = 60000;
  void fields(Fields& f);
};

/// A token of the training texts and how often it occurs there.
struct TokenCount {
  std::string_view token;
  std::int64_t count = 0;
};

/// fastai.text.data.make_vocab: the commonest first, of equally common ones the one that was given
/// first; special tokens before all; filled up with "xxfake" to a multiple of 8 (a whole 8 more
/// where it is one already).
std::vector<std::string> make_vocabulary(std::vector<TokenCount> counts,
                                         std::span<const std::string_view> special,
                                         const VocabularyOptions& options);

/// Tokens and their numbers. An "xxfake" stands for no token; of a token listed twice the last
/// counts.
class Vocabulary {
 public:
  /// What is not among the tokens has the number `unknown`; -1: none has it.
  Vocabulary(std::vector<std::string> tokens, std::int64_t unknown);
  std::int64_t number(std::string_view token) const {
    const auto found = words_.find(token);
    return found < 0 ? unknown_ : numbers_[static_cast<std::size_t>(found)];
  }
  std::int64_t unknown() const { return unknown_; }
  const std::vector<std::string>& tokens() const { return tokens_; }

 private:
  std::vector<std::string> tokens_;
  Words words_;
  std::vector<std::int64_t> numbers_;
  std::int64_t unknown_;
};

}  // namespace ddptrain
