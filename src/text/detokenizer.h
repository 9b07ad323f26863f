// Ids of tokens back to text, at once or as they come.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace ddptrain {

/// Whether special tokens, like "</s>", are part of a text.
enum class SpecialTokens { skip, keep };

class Detokenizer {
 public:
  /// `tokens`: the vocabulary by number, given (Tokenizer::vocabulary) or fitted. Both must outlive
  /// the object.
  Detokenizer(const Tokenizer& tokenizer, const std::vector<std::string>& tokens)
      : tokenizer_(tokenizer), tokens_(tokens) {}
  /// UTF-8 text. Ids without a token add nothing: a model may have more rows than its vocabulary.
  std::string decode(std::span<const std::int32_t> ids,
                     SpecialTokens special = SpecialTokens::skip) const;
  /// Bytes of text that each token of the vocabulary stands for, 0 for special ones: what bits per
  /// byte divide by.
  std::vector<std::int32_t> token_bytes() const;
  /// Has the id a token that is part of a text?
  bool is_text(std::int32_t id, SpecialTokens special) const;

 private:
  const Tokenizer& tokenizer_;
  const std::vector<std::string>& tokens_;
};

/// The text that each further token adds (tokenizers.DecodeStream). What was returned stays: a
/// character whose bytes are not complete is held back.
class TextStream {
 public:
  explicit TextStream(const Detokenizer& detokenizer, SpecialTokens special = SpecialTokens::skip)
      : detokenizer_(detokenizer), special_(special) {}
  /// Empty where the token completes nothing.
  std::string add(std::int32_t id);
  /// What is still held back, with U+FFFD for bytes that are no character. Further tokens begin a
  /// new text.
  std::string finish();

 private:
  bool is_held(const std::string& text) const;
  std::string behind_shown(const std::string& text) const;

  const Detokenizer& detokenizer_;
  SpecialTokens special_;
  std::vector<std::int32_t> ids_;  // those of the last text that was returned, and what came since
  std::size_t before_ = 0;         // of ids_, those whose text was returned
  std::string shown_;              // the text of those
};

}  // namespace ddptrain
