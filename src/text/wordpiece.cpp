// tokenizer wordpiece: the longest known pieces of each word (BERT), from a tokenizer.json.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "text/tokenizer.h"
#include "text/tokenizer_file.h"
#include "text/unicode.h"

namespace ddptrain {
namespace {

class WordPiece final : public FileTokenizer {
 public:
  explicit WordPiece(const TokenizerFileOptions& options)
      : FileTokenizer(options.file, "WordPiece") {
    const auto model = this->model();
    model.allow(
        {"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"});
    if (unknown_ < 0) model.fail("has no 'unk_token'");
    prefix_ = model.text_or("continuing_subword_prefix", "##");
    most_characters_ = static_cast<std::size_t>(model.number("max_input_chars_per_word", 100));
    if (most_characters_ > longest_word)
      model.at("max_input_chars_per_word")
          .fail(fmt::format("is above {}, which would take too long", longest_word));
    for (const auto& token : vocabulary().tokens)
      longest_piece_ = std::max(longest_piece_, token.size());
  }

 private:
  static constexpr std::size_t longest_word = 1000;  // characters; the time grows with its square

  void add_pieces(std::string_view word, std::vector<std::int32_t>& ids) const override {
    const auto first = ids.size();
    std::size_t characters = 0;
    for (std::size_t at = 0; at < word.size() && characters <= most_characters_; ++characters)
      next_character(word, at);
    bool known = characters <= most_characters_;
    for (std::size_t at = 0; known && at < word.size();) {
      const auto length = longest_piece(word, at, ids);
      known = length > 0;
      at += length;
    }
    if (known) return;
    ids.resize(first);
    ids.push_back(unknown_);
  }

  /// Adds the longest known piece from `at` on; its bytes of the word, 0 where there is none.
  std::size_t longest_piece(std::string_view word, std::size_t at,
                            std::vector<std::int32_t>& ids) const {
    auto length = std::min(word.size() - at, longest_piece_);
    auto piece = at > 0 ? prefix_ : std::string();
    piece += word.substr(at, length);
    for (; length > 0; --length) {
      const bool whole = at + length == word.size() || (word[at + length] & 0xC0) != 0x80;
      if (const auto id = whole ? id_of(piece) : -1; id >= 0) {
        ids.push_back(id);
        return length;
      }
      piece.pop_back();
    }
    return 0;
  }

  const std::int32_t unknown_ = unknown_id();
  std::string prefix_;
  std::size_t most_characters_ = 0;
  std::size_t longest_piece_ = 0;  // bytes
};

}  // namespace

Entry<Tokenizer> wordpiece_tokenizer() {
  return entry_of<Tokenizer, WordPiece, TokenizerFileOptions>(
      "wordpiece", "The longest known pieces of each word (BERT), from a tokenizer.json.");
}

}  // namespace ddptrain
