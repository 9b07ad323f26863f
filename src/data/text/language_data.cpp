#include "data/text/language_data.h"

#include <algorithm>

#include "data/text/text_dataset.h"
#include "data/tokens/token_dataset.h"

namespace ddptrain {
namespace {

class PackedTokens final : public TokenSource {
 public:
  PackedTokens(std::shared_ptr<const PackedText> text, std::size_t split)
      : text_(std::move(text)), split_(split) {}

  std::int64_t documents() const override { return text_->size(split_); }
  std::int64_t length(std::int64_t document) const override {
    return std::ssize(text_->document(split_, static_cast<std::size_t>(document)));
  }
  void copy(const Piece& piece, std::span<std::int64_t> ids) const override {
    const auto all = text_->document(split_, static_cast<std::size_t>(piece.document));
    std::ranges::copy(
        all.subspan(static_cast<std::size_t>(piece.first), static_cast<std::size_t>(piece.length)),
        ids.begin());
  }
  std::string name(std::int64_t document) const override {
    return text_->name(split_, static_cast<std::size_t>(document));
  }

 private:
  std::shared_ptr<const PackedText> text_;
  std::size_t split_;
};

/// A number that fills up short rows is no token of a language model, which could write it, and
/// whose published weights have no row for it.
void drop_own_padding(TokenVocabulary& vocabulary) {
  if (vocabulary.tokens.empty() || vocabulary.tokens.back() != kOwnPadding) return;
  vocabulary.tokens.pop_back();
  vocabulary.bytes.pop_back();
  vocabulary.padding = -1;
}

}  // namespace

std::unique_ptr<Dataset> make_language_data(const CorpusSource& source, const TextOptions& options,
                                            InvalidUtf8 invalid_utf8, const DataContext& context) {
  auto read = read_texts(source, options, invalid_utf8, context);
  const auto text = std::make_shared<const PackedText>(std::move(read.text));
  TokenData data;
  for (std::size_t split = 0; split < 2; ++split)
    data.splits[split] = std::make_shared<const PackedTokens>(text, split);
  data.vocabulary = std::move(read.vocabulary);
  drop_own_padding(data.vocabulary);
  data.digest = text->digest();
  return make_token_dataset(std::move(data), options.blocks.value_or(BlockOptions()), context);
}

}  // namespace ddptrain
