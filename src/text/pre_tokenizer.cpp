#include "text/pre_tokenizer.h"

#include <utf8proc.h>

#include <array>

#include "text/unicode.h"

namespace ddptrain {
namespace {

using Visit = PreTokenizer::Visit;

void cut_at_spaces(std::string_view text, const Visit& word) {
  std::size_t first = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto before = at;
    if (!is_white_space(next_character(text, at))) continue;
    if (before > first) word(text.substr(first, before - first));
    first = at;
  }
  if (text.size() > first) word(text.substr(first));
}

// Words between spaces, each punctuation mark alone.
void cut_as_bert(std::string_view text, const Visit& word) {
  cut_at_spaces(text, [&](std::string_view part) {
    std::size_t first = 0;
    for (std::size_t at = 0; at < part.size();) {
      const auto before = at;
      if (!is_punctuation(next_character(part, at))) continue;
      if (before > first) word(part.substr(first, before - first));
      word(part.substr(before, at - before));
      first = at;
    }
    if (part.size() > first) word(part.substr(first));
  });
}

/// \w of Rust's regular expressions: Alphabetic, M, Nd, Pc, Join_Control.
bool is_rust_word(char32_t c) {
  if (c < 0x80) return is_word(c);
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:  // letters in circles and squares, and what joins letters
      return c == 0x200c || c == 0x200d || (c >= 0x24b6 && c <= 0x24e9) ||
             (c >= 0x1f130 && c <= 0x1f149) || (c >= 0x1f150 && c <= 0x1f169) ||
             (c >= 0x1f170 && c <= 0x1f189);
  }
}

// \w+|[^\w\s]+
void cut_words_and_signs(std::string_view text, const Visit& word) {
  cut_at_spaces(text, [&](std::string_view part) {
    std::size_t first = 0;
    bool letters = false;
    for (std::size_t at = 0; at < part.size();) {
      const auto before = at;
      const bool is = is_rust_word(next_character(part, at));
      if (before > first && is != letters) {
        word(part.substr(first, before - first));
        first = before;
      }
      letters = is;
    }
    if (part.size() > first) word(part.substr(first));
  });
}

/// GPT-2's: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
class Gpt2Cutter {
 public:
  Gpt2Cutter(std::string_view text, const Visit& word) : text_(text), word_(word) {}

  void run() {
    while (at_ < text_.size()) {
      const auto end = next();
      word_(text_.substr(at_, end - at_));
      at_ = end;
    }
  }

 private:
  enum Kind { letter, number, blank, sign };

  static Kind kind_of(char32_t c) {
    return is_letter(c) ? letter : is_number(c) ? number : is_white_space(c) ? blank : sign;
  }

  std::size_t next() const {
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
      if (text_.substr(at_).starts_with(ending)) return at_ + ending.size();
    auto first = at_;
    if (text_[at_] == ' ' && at_ + 1 < text_.size()) ++first;
    auto behind = first;
    auto kind = kind_of(next_character(text_, behind));
    if (kind != blank) return run_end(first, kind);
    return blanks_end();
  }

  std::size_t run_end(std::size_t at, Kind kind) const {
    while (at < text_.size()) {
      auto behind = at;
      if (kind_of(next_character(text_, behind)) != kind) break;
      at = behind;
    }
    return at;
  }

  /// All of them at the end of the text; otherwise the last one is left to what follows.
  std::size_t blanks_end() const {
    const auto end = run_end(at_, blank);
    if (end == text_.size()) return end;
    auto last = at_;
    for (auto at = at_; at < end;) {
      last = at;
      next_character(text_, at);
    }
    return last > at_ ? last : end;
  }

  std::string_view text_;
  const Visit& word_;
  std::size_t at_ = 0;
};

/// GPT-2's bytes_to_unicode: each byte as a character that is seen.
const std::array<std::string, 256>& byte_characters() {
  static const std::array<std::string, 256> table = [] {
    std::array<std::string, 256> made;
    char32_t spare = 256;
    for (char32_t b = 0; b < 256; ++b) {
      const bool seen = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
      append_character(made[b], seen ? b : spare++);
    }
    return made;
  }();
  return table;
}

struct ByteLevel {
  bool add_prefix_space, use_regex;

  void operator()(std::string_view text, const Visit& word) const {
    std::string with_space;
    if (add_prefix_space && !text.starts_with(' ')) {
      with_space = " " + std::string(text);
      text = with_space;
    }
    std::string bytes;
    const Visit encoded = [&](std::string_view part) {
      bytes.clear();
      for (const char c : part) bytes += byte_characters()[static_cast<unsigned char>(c)];
      word(bytes);
    };
    if (use_regex)
      Gpt2Cutter(text, encoded).run();
    else
      encoded(text);
  }
};

}  // namespace

PreTokenizer::PreTokenizer(const JsonSection& section) { add(section, 0); }

void PreTokenizer::add(const JsonSection& section, int depth) {
  const auto type = section.type();
  section.check_depth(depth);
  if (type == "Sequence") {
    section.allow({"type", "pretokenizers"});
    const auto list = section.at("pretokenizers");
    for (std::size_t i = 0; i < list.items(); ++i) add(list.item(i), depth + 1);
    return;
  }
  if (type == "ByteLevel") {
    section.allow({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    steps_.push_back(
        ByteLevel{section.flag("add_prefix_space", true), section.flag("use_regex", true)});
    return;
  }
  if (type == "BertPreTokenizer")
    steps_.emplace_back(cut_as_bert);
  else if (type == "Whitespace")
    steps_.emplace_back(cut_words_and_signs);
  else if (type == "WhitespaceSplit")
    steps_.emplace_back(cut_at_spaces);
  else
    section.not_supported(type,
                          "BertPreTokenizer, Whitespace, WhitespaceSplit, ByteLevel, Sequence");
  section.allow({"type"});
}

void PreTokenizer::run(std::size_t step, std::string_view text, const Visit& word) const {
  if (step == steps_.size()) return word(text);
  steps_[step](text, [&](std::string_view part) { run(step + 1, part, word); });
}

void PreTokenizer::cut(std::string_view text, const Visit& word) const {
  if (!text.empty()) run(0, text, word);
}

}  // namespace ddptrain
