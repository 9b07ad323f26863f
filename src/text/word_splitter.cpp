#include "text/word_splitter.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "text/unicode.h"

namespace ddptrain {
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
      take(first);
    } else if (in_word()) {
      skip_word();
      take_word(first);
    } else {
      symbol();
    }
  }

  void take(std::size_t first) { words_.push_back(text_.substr(first, at_ - first)); }

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
    if (!is_space(c)) take(first);
  }

  std::string_view text_;
  std::vector<std::string_view>& words_;
  std::size_t at_ = 0;
};

}  // namespace

void split_words(std::string_view text, std::vector<std::string_view>& words) {
  Splitter(text, words).run();
}

void split_at_spaces(std::string_view text, std::vector<std::string_view>& words) {
  for (;;) {
    const auto end = text.find(' ');
    words.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace ddptrain
