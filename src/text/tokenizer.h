// Text to tokens, and back.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalog.h"
#include "text/word_cache.h"

namespace ddptrain {

/// The tokens of one document, and the memory that they are views of; used again for the next.
struct Tokens {
  std::vector<std::string_view> list;
  std::string text, spare;
  std::vector<std::int32_t> ids;
  WordCache cache;
};

/// The token that fills up short rows where a tokenizer has none for that.
inline constexpr std::string_view kOwnPadding = "(padding)";

/// What a tokenizer's vocabulary looks like. Where `tokens` is empty it is fitted on the training
/// texts and begins with `special`; otherwise it is given, by number.
struct VocabularySource {
  std::vector<std::string> special;
  std::vector<std::string> tokens;
  std::string unknown;  // empty: every text has known tokens
  std::string padding;  // fills up short rows; empty: kOwnPadding, behind the others
};

/// Safe to use from many threads.
class Tokenizer {
 public:
  using Make = std::unique_ptr<Tokenizer>();
  virtual ~Tokenizer() = default;
  /// The tokens of UTF-8 text, without those around it.
  virtual void tokenize(std::string_view text, Tokens& tokens) const = 0;
  /// The same by number, in `tokens.ids`, for a tokenizer whose vocabulary is given.
  virtual void encode(std::string_view text, Tokens& tokens) const;
  virtual const VocabularySource& vocabulary() const = 0;
  /// Tokens that stand around every document, whatever is cut off of it.
  virtual std::vector<std::string> before() const { return {}; }
  virtual std::vector<std::string> after() const { return {}; }
  /// The UTF-8 text of tokens. U+FFFD stands for bytes that are no character.
  virtual std::string decode(std::span<const std::string_view> tokens) const = 0;
  /// Is the token a mark around texts or in them, like "</s>"?
  virtual bool is_special(std::string_view token) const = 0;
  /// Bytes of UTF-8 text that a token stands for between others; 0 for special tokens.
  virtual std::size_t text_bytes(std::string_view token) const = 0;
  /// Changes with whatever changes the tokens of a text.
  virtual std::string digest() const = 0;
};

template <>
const Catalog<Tokenizer>& catalog<Tokenizer>();

}  // namespace ddptrain
