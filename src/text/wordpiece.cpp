// tokenizer wordpiece: the longest known pieces of each word (BERT), from a tokenizer.json.
#include "base/error.h"
#include "text/tokenizer_file.h"
#include "text/tokenizers.h"
#include "text/unicode.h"
#include "text/words.h"

namespace ddptrain {
namespace {

class WordPiece final : public Tokenizer {
 public:
  explicit WordPiece(const TokenizerFileOptions& options)
      : file_(options.file, "WordPiece"), vocabulary_(file_.vocabulary()) {
    const auto model = file_.model();
    model.allow(
        {"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"});
    if (vocabulary_.unknown.empty()) model.fail("has no 'unk_token'");
    prefix_ = model.text_or("continuing_subword_prefix", "##");
    most_characters_ = static_cast<std::size_t>(model.number("max_input_chars_per_word", 100));
    for (const auto& token : vocabulary_.tokens) words_.add(token);
  }

  void tokenize(std::string_view text, Tokens& tokens) const override {
    tokens.list.clear();
    file_.cut(
        text, tokens, [&](std::string_view word) { add_pieces(word, tokens); },
        [&](std::string_view added) { tokens.list.push_back(added); });
  }

  const VocabularySource& vocabulary() const override { return vocabulary_; }
  std::vector<std::string> before() const override { return file_.before(); }
  std::vector<std::string> after() const override { return file_.after(); }
  std::string digest() const override { return file_.digest(); }

 private:
  void add_pieces(std::string_view word, Tokens& tokens) const {
    const auto first = tokens.list.size();
    std::size_t characters = 0;
    for (std::size_t at = 0; at < word.size() && characters <= most_characters_; ++characters)
      next_character(word, at);
    bool known = characters <= most_characters_;
    for (std::size_t at = 0; known && at < word.size();) {
      const auto length = longest_piece(word, at, tokens);
      known = length > 0;
      at += length;
    }
    if (known) return;
    tokens.list.resize(first);
    tokens.list.push_back(vocabulary_.unknown);
  }

  /// Adds the longest known piece from `at` on; its bytes of the word, 0 where there is none.
  std::size_t longest_piece(std::string_view word, std::size_t at, Tokens& tokens) const {
    auto& piece = tokens.spare;
    piece = at > 0 ? prefix_ : std::string();
    piece += word.substr(at);
    for (auto length = word.size() - at; length > 0; --length) {
      const bool whole = at + length == word.size() || (word[at + length] & 0xC0) != 0x80;
      if (const auto number = whole ? words_.find(piece) : -1; number >= 0) {
        tokens.list.push_back(words_[static_cast<std::size_t>(number)]);
        return length;
      }
      piece.pop_back();
    }
    return 0;
  }

  TokenizerFile file_;
  VocabularySource vocabulary_;
  Words words_;
  std::string prefix_;
  std::size_t most_characters_ = 0;
};

}  // namespace

Entry<Tokenizer> wordpiece_tokenizer() {
  return entry<Tokenizer, TokenizerFileOptions>(
      "wordpiece", "The longest known pieces of each word (BERT), from a tokenizer.json.",
      [](const TokenizerFileOptions& options) -> std::unique_ptr<Tokenizer> {
        return std::make_unique<WordPiece>(options);
      });
}

}  // namespace ddptrain
