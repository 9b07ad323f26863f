#include "text/pre_tokenizer.h"

#include "text/byte_characters.h"
#include "text/metaspace.h"
#include "text/unicode.h"
#include "text/word_pattern.h"

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

// Each punctuation mark alone.
void cut_at_punctuation(std::string_view text, const Visit& word) {
  std::size_t first = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto before = at;
    if (!is_punctuation(next_character(text, at))) continue;
    if (before > first) word(text.substr(first, before - first));
    word(text.substr(before, at - before));
    first = at;
  }
  if (text.size() > first) word(text.substr(first));
}

// Words between spaces, each punctuation mark alone.
void cut_as_bert(std::string_view text, const Visit& word) {
  cut_at_spaces(text, [&](std::string_view part) { cut_at_punctuation(part, word); });
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

// Numbers apart from the rest: each digit alone, or as many as stand together.
void cut_at_digits(std::string_view text, bool individual, const Visit& word) {
  std::size_t first = 0;
  bool digits = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto before = at;
    const bool is = is_number(next_character(text, at));
    if (before > first && (is != digits || (is && individual))) {
      word(text.substr(first, before - first));
      first = before;
    }
    digits = is;
  }
  if (text.size() > first) word(text.substr(first));
}

void cut_by_pattern(std::string_view text, WordEnd end_of, const Visit& word) {
  for (std::size_t at = 0; at < text.size();) {
    const auto end = end_of(text, at);
    word(text.substr(at, end - at));
    at = end;
  }
}

/// What becomes of the text between words (tokenizers.SplitDelimiterBehavior).
enum class Delimiter { removed, isolated, merged_with_previous, merged_with_next };

/// Cuts where `delimiter`, which is not empty, stands. Of several in a row the first alone joins
/// what is before, or the last what is behind.
void cut_at_text(std::string_view text, std::string_view delimiter, Delimiter behavior,
                 const Visit& word) {
  const auto visit = [&](std::size_t first, std::size_t last) {
    if (last > first) word(text.substr(first, last - first));
  };
  std::size_t first = 0;
  for (std::size_t at = 0; (at = text.find(delimiter, at)) != std::string_view::npos;) {
    const auto behind = at + delimiter.size();
    visit(first, behavior == Delimiter::merged_with_previous ? behind : at);
    if (behavior == Delimiter::isolated) visit(at, behind);
    first = behavior == Delimiter::merged_with_next ? at : behind;
    at = behind;
  }
  visit(first, text.size());
}

Delimiter delimiter_of(const JsonSection& section) {
  const auto behavior = section.text("behavior");
  if (behavior == "Removed") return Delimiter::removed;
  if (behavior == "Isolated") return Delimiter::isolated;
  if (behavior == "MergedWithPrevious") return Delimiter::merged_with_previous;
  if (behavior == "MergedWithNext") return Delimiter::merged_with_next;
  section.at("behavior")
      .not_supported(behavior, "Removed, Isolated, MergedWithPrevious, MergedWithNext");
}

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
  if (bytes_) {  // what follows sees characters
    bytes_ = false;
    steps_.emplace_back([](std::string_view text, bool, const Visit& word) {
      std::string characters;
      append_byte_characters(characters, text);
      word(characters);
    });
  }
  if (type == "ByteLevel") return add_byte_level(section);
  if (type == "Metaspace") return add_metaspace(section);
  if (type == "Split") return add_split(section);
  if (type == "Digits") return add_digits(section);
  add_plain(section);
}

void PreTokenizer::add_plain(const JsonSection& section) {
  const auto type = section.type();
  const auto step = [&](void (*function)(std::string_view, const Visit&)) {
    steps_.emplace_back(
        [function](std::string_view text, bool, const Visit& word) { function(text, word); });
  };
  if (type == "BertPreTokenizer")
    step(cut_as_bert);
  else if (type == "Whitespace")
    step(cut_words_and_signs);
  else if (type == "WhitespaceSplit")
    step(cut_at_spaces);
  else if (type == "Punctuation")
    step(cut_at_punctuation);
  else
    section.not_supported(type,
                          "BertPreTokenizer, Whitespace, WhitespaceSplit, ByteLevel, Digits, "
                          "Metaspace, Punctuation, Split, Sequence");
  if (type != "Punctuation") return section.allow({"type"});
  section.allow({"type", "behavior"});
  const auto behavior = section.text_or("behavior", "Isolated");
  if (behavior != "Isolated") section.at("behavior").not_supported(behavior, "Isolated");
}

void PreTokenizer::add_byte_level(const JsonSection& section) {
  section.allow({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  const bool prefix = section.flag("add_prefix_space", true);
  const bool regex = section.flag("use_regex", true);
  bytes_ = true;
  if (!prefix && !regex) return;
  steps_.emplace_back([prefix, regex](std::string_view text, bool, const Visit& word) {
    std::string with_space;
    if (prefix && !text.starts_with(' ')) text = with_space = " " + std::string(text);
    if (regex) return cut_by_pattern(text, gpt2_word_end, word);
    word(text);
  });
}

void PreTokenizer::add_metaspace(const JsonSection& section) {
  const Metaspace space(section);
  const bool split = section.flag("split", true);
  if (space.prepend == Metaspace::Prepend::first && !steps_.empty())
    section.at("prepend_scheme").fail("'first' is supported for the first pre-tokenizer alone");
  steps_.emplace_back([space, split](std::string_view text, bool begins, const Visit& word) {
    const auto marked = space.marked(text, begins);
    if (split) return cut_at_text(marked, space.mark, Delimiter::merged_with_next, word);
    word(marked);
  });
}

void PreTokenizer::add_split(const JsonSection& section) {
  section.allow({"type", "pattern", "behavior", "invert"});
  const auto behavior = delimiter_of(section);
  const auto pattern = section.at("pattern");
  const bool invert = section.flag("invert", false);
  if (!pattern.is_null("String")) {
    if (invert) section.at("invert").fail("is not supported together with a text");
    const auto text = pattern.text("String");
    if (text.empty()) pattern.at("String").fail("is empty");
    steps_.emplace_back([text, behavior](std::string_view part, bool, const Visit& word) {
      cut_at_text(part, text, behavior, word);
    });
    return;
  }
  const auto regex = pattern.text("Regex");
  const auto end_of = find_word_pattern(regex);
  if (!end_of) pattern.at("Regex").not_supported(regex, "those of GPT-2, GPT-4, Llama 3 and Qwen");
  // These match every character, so what is between the matches is nothing.
  if (behavior != (invert ? Delimiter::removed : Delimiter::isolated))
    section.at("behavior").fail("is not supported for a regular expression; there is Isolated");
  steps_.emplace_back([end_of](std::string_view part, bool, const Visit& word) {
    cut_by_pattern(part, end_of, word);
  });
}

void PreTokenizer::add_digits(const JsonSection& section) {
  section.allow({"type", "individual_digits"});
  const bool individual = section.flag("individual_digits", false);
  steps_.emplace_back([individual](std::string_view text, bool, const Visit& word) {
    cut_at_digits(text, individual, word);
  });
}

void PreTokenizer::run(std::size_t step, std::string_view text, bool begins,
                       const Visit& word) const {
  if (step == steps_.size()) return word(text);
  if (step + 1 == steps_.size()) return steps_[step](text, begins, word);
  steps_[step](text, begins, [&](std::string_view part) { run(step + 1, part, false, word); });
}

void PreTokenizer::cut(std::string_view text, bool begins, const Visit& word) const {
  if (!text.empty()) run(0, text, begins, word);
}

}  // namespace ddptrain
