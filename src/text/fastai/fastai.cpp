// tokenizer fastai: the rules of fastai.text.core, then words.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/digest.h"
#include "base/names.h"
#include "base/text.h"
#include "text/fastai/fastai_rules.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

namespace ddptrain {

enum class WordRule { words, spaces };

std::span<const std::string_view> names(WordRule) { return kNameList<"words", "spaces">; }

namespace {

enum Kind : std::uint8_t { other, word, digit, space, line_end, wide };

constexpr auto kinds = [] {
  std::array<Kind, 256> table{};
  for (int c = 0; c < 256; ++c) {
    auto& kind = table[static_cast<std::size_t>(c)];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') kind = word;
    if (c >= '0' && c <= '9') kind = digit;
    if (c == ' ' || c == '\t') kind = space;
    if (c >= '\n' && c <= '\r') kind = line_end;
    if (c >= 0x80) kind = wide;
  }
  return table;
}();

Kind kind_of(char c) { return kinds[static_cast<unsigned char>(c)]; }

class Splitter {
 public:
  Splitter(std::string_view text, std::vector<std::string_view>& words)
      : text_(text), words_(words) {}

  void run() {
    while (at_ < text_.size()) step();
  }

 private:
  void step() {
    const auto first = at_;
    const auto kind = kind_of(text_[at_]);
    if (kind == space) {
      ++at_;
    } else if (kind == line_end) {
      while (at_ < text_.size() && kind_of(text_[at_]) == line_end) ++at_;
      add_word(first);
    } else if (in_word()) {
      skip_word();
      take_word(first);
    } else {
      symbol();
    }
  }

  void add_word(std::size_t first) { words_.push_back(text_.substr(first, at_ - first)); }

  bool in_word() const {
    if (at_ == text_.size()) return false;
    const auto kind = kind_of(text_[at_]);
    if (kind != wide) return kind == word || kind == digit;
    auto next = at_;
    return is_word(next_character(text_, next));
  }

  // Letters, digits, and what holds them together: "3.14", "1,000", "u.s.a.".
  void skip_word() {
    const auto first = at_;
    for (;;) {
      while (at_ < text_.size() && (kind_of(text_[at_]) == word || kind_of(text_[at_]) == digit))
        ++at_;
      if (at_ < text_.size() && kind_of(text_[at_]) == wide && in_word()) {
        next_character(text_, at_);
        continue;
      }
      if (!joins(first)) return;
      ++at_;
    }
  }

  /// Does the sign at `at_` belong to the word that began at `first`?
  bool joins(std::size_t first) const {
    if (at_ >= text_.size() || (text_[at_] != '.' && text_[at_] != ',')) return false;
    const char before = text_[at_ - 1];
    const char behind = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
    if (kind_of(before) == digit && kind_of(behind) == digit) return true;
    if (text_[at_] == ',') return false;
    const bool single = at_ - first == 1 || text_[at_ - 2] == '.';  // one letter
    return single && kind_of(before) == word &&
           (kind_of(behind) == word || (at_ - first > 2 && kind_of(behind) != digit));
  }

  /// "don't" as "do", "n't"; "it's" as "it", "'s".
  void take_word(std::size_t first) {
    const auto ending = contraction();
    const auto stem = text_.substr(first, at_ - first);
    if (ending == 2 && text_[at_ + 1] == 't' && stem.size() > 1 && stem.back() == 'n') {
      words_.push_back(stem.substr(0, stem.size() - 1));
      words_.push_back(text_.substr(at_ - 1, 3));
      at_ += 2;
      return;
    }
    words_.push_back(stem);
    if (ending == 0 || text_[at_ + 1] == 't') return;
    words_.push_back(text_.substr(at_, ending));
    at_ += ending;
  }

  /// Bytes of 's, 'm, 'd, 't, 'll, 've or 're at `at_` with no letter behind; 0: none.
  std::size_t contraction() const {
    if (at_ + 1 >= text_.size() || text_[at_] != '\'') return 0;
    auto end = at_ + 1;
    while (end < text_.size() && end < at_ + 4 && kind_of(text_[end]) != other &&
           kind_of(text_[end]) != space && kind_of(text_[end]) != line_end)
      ++end;
    const auto letters = text_.substr(at_ + 1, end - at_ - 1);
    constexpr std::array<std::string_view, 7> endings{"s", "m", "d", "t", "ll", "ve", "re"};
    const bool known = std::find(endings.begin(), endings.end(), letters) != endings.end();
    return known ? end - at_ : 0;
  }

  void symbol() {
    const auto first = at_;
    const auto c = next_character(text_, at_);
    if (!is_space(c)) add_word(first);
  }

  std::string_view text_;
  std::vector<std::string_view>& words_;
  std::size_t at_ = 0;
};

/// Cuts at spaces; punctuation stands alone, but inside of numbers ("3.14", "1,000") and between
/// letters with single dots ("u.s.a.") it stays; endings of contractions stand alone ("do", "n't",
/// "it", "'s"); a run of line ends is one token. Nothing is lost but single spaces.
void split_words(std::string_view text, std::vector<std::string_view>& words) {
  Splitter(text, words).run();
}

/// fastai's BaseTokenizer: str.split(" "), empty words included.
void split_at_spaces(std::string_view text, std::vector<std::string_view>& words) {
  for (;;) {
    const auto end = text.find(' ');
    words.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

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

  // As LMLearner.predict writes them.
  std::string decode(std::span<const std::string_view> tokens) const override {
    return join(decode_rules(tokens), " ");
  }
  bool is_special(std::string_view token) const override {
    return token == "xxpad" || token == "xxbos" || token == "xxeos";
  }
  // With the space in front of it; a rule's token is part of the next one.
  std::size_t text_bytes(std::string_view token) const override {
    const auto& special = vocabulary_.special;
    const bool word = std::find(special.begin(), special.end(), token) == special.end();
    return word && token != "xxfake" ? token.size() + 1 : 0;
  }

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
  return entry_of<Tokenizer, Fastai, FastaiOptions>(
      "fastai", "Words after fastai's rules (xxmaj, xxup, xxrep, ...).");
}

}  // namespace ddptrain
