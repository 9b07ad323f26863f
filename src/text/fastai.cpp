// tokenizer fastai: the rules of fastai.text.core, then words.
#include <array>

#include "base/files/digest.h"
#include "base/text.h"
#include "text/fastai_rules.h"
#include "text/tokenizer.h"
#include "text/word_splitter.h"

namespace ddptrain {

enum class WordRule { words, spaces };

std::span<const std::string_view> names(WordRule) {
  static constexpr std::array<std::string_view, 2> all{"words", "spaces"};
  return all;
}

namespace {

std::vector<TextRule> all_rules() {
  std::vector<TextRule> rules;
  for (std::size_t i = 0; i < names(TextRule{}).size(); ++i)
    rules.push_back(static_cast<TextRule>(i));
  return rules;
}

struct FastaiOptions {
  std::vector<TextRule> rules = all_rules();
  WordRule split = WordRule::words;
  void fields(Fields& f) {
    f("rules", rules, {.doc = "What is done to a text before it is cut, in this order."});
    f("split", split,
      {.doc = "words: punctuation and the endings of contractions stand alone, much as spaCy has "
              "it; spaces: at single spaces alone, fastai's BaseTokenizer."});
  }
};

class Fastai final : public Tokenizer {
 public:
  explicit Fastai(const FastaiOptions& options) : options_(options) {
    for (const auto token : fastai_special_tokens()) vocabulary_.special.emplace_back(token);
    vocabulary_.unknown = vocabulary_.special[0];
    vocabulary_.padding = vocabulary_.special[1];
  }

  void tokenize(std::string_view text, Tokens& tokens) const override {
    tokens.list.clear();
    tokens.text = text;
    for (const auto rule : options_.rules) apply(rule, tokens.text, tokens.spare);
    if (options_.split == WordRule::words)
      split_words(tokens.text, tokens.list);
    else
      split_at_spaces(tokens.text, tokens.list);
  }

  const VocabularySource& vocabulary() const override { return vocabulary_; }

  // To be raised where a change of the code changes tokens.
  std::string digest() const override {
    std::string key = "fastai 1 " + std::string(names(options_.split)[index(options_.split)]);
    for (const auto rule : options_.rules) key += " " + std::string(names(rule)[index(rule)]);
    return sha256(key);
  }

 private:
  template <class E>
  static std::size_t index(E word) {
    return static_cast<std::size_t>(word);
  }

  FastaiOptions options_;
  VocabularySource vocabulary_;
};

}  // namespace

Entry<Tokenizer> fastai_tokenizer() {
  return entry<Tokenizer, FastaiOptions>(
      "fastai", "Words after fastai's rules (xxmaj, xxup, xxrep, ...).",
      [](const FastaiOptions& options) -> std::unique_ptr<Tokenizer> {
        return std::make_unique<Fastai>(options);
      });
}

}  // namespace ddptrain
