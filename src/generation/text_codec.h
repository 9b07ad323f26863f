// Texts to the tokens that a trained model knows, and back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/choice.h"
#include "config/node.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace ddptrain {

/// What a checkpoint keeps of a run's texts: Dataset::state().
struct FittedTokens {
  std::string tokenizer;                // Tokenizer::digest()
  Node options;                         // its options but for the path of its file, a map
  std::vector<std::string> vocabulary;  // by number
};

/// False where the state is not that of texts.
bool is_text_state(const std::string& state);
/// Of a state of texts.
FittedTokens fitted_tokens_of(const std::string& state);

class TextCodec {
 public:
  /// An Error (Exit::data) where the tokenizer's file cannot be read, one (Exit::recipe) about
  /// data.tokenizer where the tokenizer is another than that of the training.
  TextCodec(const Choice<Tokenizer>& tokenizer, FittedTokens fitted);
  TextCodec(const TextCodec&) = delete;
  TextCodec& operator=(const TextCodec&) = delete;

  /// The tokens that begin every document, and those of the text. An Error (Exit::recipe) where a
  /// token of the text is not in the vocabulary, which has none for unknown ones.
  std::vector<std::int64_t> encode(std::string_view text) const;
  /// The tokens that begin every document.
  std::vector<std::int64_t> beginning() const;
  const Detokenizer& detokenizer() const { return detokenizer_; }
  std::int64_t size() const { return std::ssize(vocabulary_.tokens()); }
  /// The number of the token that fills up short rows; -1: there is none.
  std::int64_t padding() const;
  /// Special tokens but the one for unknown words: where a model writes one, a text ends.
  std::vector<std::int64_t> marks() const;
  /// The number of the token for unknown words; -1: every text has known tokens.
  std::int64_t unknown() const;
  /// The number of a token; -1: the vocabulary lacks it.
  std::int64_t number(std::string_view token) const;
  /// The token of a number of the vocabulary.
  const std::string& token(std::int64_t number) const {
    return vocabulary_.tokens().at(static_cast<std::size_t>(number));
  }

 private:
  std::int64_t known(std::string_view token) const;

  std::unique_ptr<Tokenizer> tokenizer_;
  Vocabulary vocabulary_;
  Detokenizer detokenizer_;
};

}  // namespace ddptrain
