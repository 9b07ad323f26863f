// The tokens that a tokenizer.json adds to its model's, like "[SEP]": they are found in a text
// before the model sees it (Hugging Face's AddedVocabulary).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

struct AddedToken {
  std::string text;
  std::int32_t id = 0;
  bool single_word = false;                      // not inside of a word
  bool strip_left = false, strip_right = false;  // with the blanks there
  bool normalized = false;                       // found in the normalized text
  bool special = false;                          // no part of what is decoded
};

class AddedTokens {
 public:
  AddedTokens() = default;
  explicit AddedTokens(std::vector<AddedToken> tokens);
  bool empty() const { return tokens_.empty(); }
  /// Calls `plain` with each piece of the text between the tokens, `added` with each token. Of
  /// those that begin at one place the longest is found.
  void split(std::string_view text, const std::function<void(std::string_view)>& plain,
             const std::function<void(const AddedToken&)>& added) const;

 private:
  const AddedToken* find(std::string_view text, std::size_t& at) const;

  std::vector<AddedToken> tokens_;  // by first byte, the longest first
  struct Range {
    std::uint32_t first = 0, last = 0;
  };
  std::array<Range, 256> by_byte_{};  // of `tokens_`, by the first byte
};

}  // namespace ddptrain
