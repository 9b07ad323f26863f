#include "text/fastai_rules.h"

#include <array>
#include <cstring>

#include "text/html.h"
#include "text/unicode.h"

namespace ddptrain {

std::span<const std::string_view> names(TextRule) {
  static constexpr std::array<std::string_view, 8> words{
      "fix_html",          "replace_rep",      "replace_wrep", "spec_add_spaces",
      "rm_useless_spaces", "replace_all_caps", "replace_maj",  "lowercase"};
  return words;
}

std::span<const std::string_view> fastai_special_tokens() {
  static constexpr std::array<std::string_view, 9> words{
      "xxunk", "xxpad", "xxbos", "xxeos", "xxfld", "xxrep", "xxwrep", "xxup", "xxmaj"};
  return words;
}

namespace {

constexpr auto none = std::string_view::npos;

struct Replacement {
  std::string_view from, to;
};

/// fix_html's, in its order.
constexpr std::array<Replacement, 13> replacements{{{"#39;", "'"},
                                                    {"amp;", "&"},
                                                    {"#146;", "'"},
                                                    {"nbsp;", " "},
                                                    {"#36;", "$"},
                                                    {"\\n", "\n"},
                                                    {"quot;", "'"},
                                                    {"<br />", "\n"},
                                                    {"\\\"", "\""},
                                                    {"<unk>", "xxunk"},
                                                    {" @.@ ", "."},
                                                    {" @-@ ", "-"},
                                                    {"...", " \xe2\x80\xa6"}}};

/// str.replace; false where there was nothing to do.
bool replace_all(std::string_view text, const Replacement& by, std::string& out) {
  const auto find = [&](std::size_t from) -> std::size_t {
    const void* found =
        ::memmem(text.data() + from, text.size() - from, by.from.data(), by.from.size());
    return found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) : none;
  };
  auto at = find(0);
  if (at == none) return false;
  out.clear();
  std::size_t done = 0;
  for (; at != none; at = find(done)) {
    out += text.substr(done, at - done);
    out += by.to;
    done = at + by.from.size();
  }
  out += text.substr(done);
  return true;
}

// None of what is put in has a ';', '\', '<' or '@', so a look at the beginning says which of the
// replacements can find anything.
void fix_html(std::string& text, std::string& spare) {
  const auto has = [&](char c) { return std::memchr(text.data(), c, text.size()) != nullptr; };
  const bool semicolon = has(';'), backslash = has('\\'), angle = has('<'), at = has('@');
  for (const auto& by : replacements) {
    const char last = by.from.back(), first = by.from.front();
    const bool possible = last == ';'     ? semicolon
                          : first == '\\' ? backslash
                          : first == '<'  ? angle
                          : first == ' '  ? at
                                          : true;
    if (possible && replace_all(text, by, spare)) text.swap(spare);
  }
  if (!has('&')) return;
  spare.clear();
  append_unescaped(spare, text);
  text.swap(spare);
}

std::size_t character_length(char first) {
  const auto c = static_cast<unsigned char>(first);
  return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

bool starts_with_space(std::string_view text) {
  std::size_t at = 0;
  return is_space(next_character(text, at));
}

/// How often the character of `length` bytes at the beginning stands there in a row.
std::size_t repeats(std::string_view text, std::size_t length) {
  const auto c = text.substr(0, length);
  std::size_t count = 1;
  while (text.substr(count * length).starts_with(c)) ++count;
  return count;
}

/// `(\S)(\1{2,})` at `at`?
bool repeats_thrice(std::string_view text, std::size_t at, std::size_t length) {
  if (at + 3 * length > text.size() || text[at] != text[at + length]) return false;
  if (std::memcmp(text.data() + at, text.data() + at + length, 2 * length) != 0) return false;
  return !starts_with_space(text.substr(at));
}

void replace_rep(std::string& text, std::string& spare) {
  spare.clear();
  const std::string_view all = text;
  std::size_t done = 0;
  for (std::size_t at = 0; at + 2 < all.size();) {
    const auto length = character_length(all[at]);
    if (!repeats_thrice(all, at, length)) {
      at += length;
      continue;
    }
    const auto count = repeats(all.substr(at), length);
    spare += all.substr(done, at - done);
    spare += " xxrep ";
    spare += std::to_string(count);
    spare += ' ';
    spare += all.substr(at, length);
    spare += ' ';
    done = at += count * length;
  }
  if (done == 0) return;
  spare += all.substr(done);
  text.swap(spare);
}

constexpr auto ascii_words = [] {
  std::array<char, 128> table{};
  for (int c = 0; c < 128; ++c)
    table[static_cast<std::size_t>(c)] =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  return table;
}();

std::size_t skip_word(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const auto c = static_cast<unsigned char>(text[at]);
    auto next = at + 1;
    if (c < 0x80 ? !ascii_words[c] : (next = at, !is_word(next_character(text, next)))) break;
    at = next;
  }
  return at;
}

std::size_t skip_spaces(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    auto next = at;
    if (!is_space(next_character(text, next))) break;
    at = next;
  }
  return at;
}

/// A run of one word: where its last copy ends, and how many there are.
struct WordRun {
  std::size_t end = 0;
  std::size_t count = 1;
};

/// Copies of the word at first .. end - 1, spaces between them, the last not followed by a letter.
WordRun word_run(std::string_view text, std::size_t first, std::size_t end) {
  const auto word = text.substr(first, end - first);
  WordRun run{end, 1};
  for (;;) {
    const auto next = skip_spaces(text, run.end);
    if (next == run.end || !text.substr(next).starts_with(word)) return run;
    const auto behind = next + word.size();
    if (skip_word(text, behind) != behind) return run;
    run = {behind, run.count + 1};
  }
}

// (?:\s|^)(\w+)\s+((?:\1\s+)+)\1(\s|\W|$), each match beginning with the space before the word.
void replace_wrep(std::string& text, std::string& spare) {
  spare.clear();
  const std::string_view all = text;
  std::size_t done = 0;
  for (std::size_t at = 0; at < all.size();) {
    // `at` stands on the space before a word, or at the very beginning of the text.
    auto word = at;
    const bool space = is_space(next_character(all, word));
    if (!space) word = at;
    if (!space && at > 0) {
      at = word + character_length(all[word]);
      continue;
    }
    const auto end = skip_word(all, word);
    if (end == word) {
      at = space ? word : word + character_length(all[word]);
      continue;
    }
    const auto run = word_run(all, word, end);
    if (run.count < 3) {
      at = end;
      continue;
    }
    auto behind = run.end;
    if (behind < all.size()) next_character(all, behind);
    spare += all.substr(done, at - done);
    spare += " xxwrep ";
    spare += std::to_string(run.count);
    spare += ' ';
    spare += all.substr(word, end - word);
    spare += ' ';
    spare += all.substr(run.end, behind - run.end);
    done = at = behind;
  }
  if (done == 0) return;
  spare += all.substr(done);
  text.swap(spare);
}

void spec_add_spaces(std::string& text, std::string& spare) {
  constexpr std::string_view special = "/#\\";
  auto at = text.find_first_of(special);
  if (at == none) return;
  spare.clear();
  for (const char c : text) {
    const bool spaced = special.find(c) != none;
    if (spaced) spare += ' ';
    spare += c;
    if (spaced) spare += ' ';
  }
  text.swap(spare);
}

void rm_useless_spaces(std::string& text) {
  auto at = text.find("  ");
  if (at == none) return;
  auto to = at + 1;
  for (auto from = at + 2; from < text.size(); ++from)
    if (text[from] != ' ' || text[to - 1] != ' ') text[to++] = text[from];
  text.resize(to);
}

/// Where the run of characters that are no spaces ends.
std::size_t skip_token(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c > ' ' && c < 0x80) {
      ++at;
      continue;
    }
    auto next = at;
    if (is_space(next_character(text, next))) break;
    at = next;
  }
  return at;
}

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

bool any_between(std::string_view text, char first, char last) {
  for (const char c : text)
    if (c >= first && c <= last) return true;
  return false;
}

bool is_one_character(std::string_view text) { return character_length(text[0]) == text.size(); }

/// Puts `mark` before tokens that begin with a capital and hold nothing of no_first .. no_last
/// behind it, and makes them small: [A-Z]+[^a-z\s]* and [A-Z][^A-Z\s]*.
struct CapitalRule {
  std::string_view mark;
  char no_first, no_last;
};

void mark_capitals(std::string& text, std::string& spare, const CapitalRule& rule) {
  spare.clear();
  const std::string_view all = text;
  std::size_t done = 0;
  for (std::size_t at = 0; at < all.size();) {
    const auto end = skip_token(all, at);
    const auto token = all.substr(at, end - at);
    if (!token.empty() && is_capital(token[0]) &&
        !any_between(token.substr(1), rule.no_first, rule.no_last)) {
      spare += all.substr(done, at - done);
      if (!is_one_character(token)) spare += rule.mark;
      append_lower(spare, token);
      done = end;
    }
    at = end;
    if (at < all.size()) next_character(all, at);
  }
  if (done == 0) return;
  spare += all.substr(done);
  text.swap(spare);
}

void lowercase(std::string& text, std::string& spare) {
  spare.clear();
  append_lower(spare, text);
  const auto inner = strip_begin(strip_end(spare));
  text = "xxbos ";
  text += inner;
}

}  // namespace

void apply(TextRule rule, std::string& text, std::string& spare) {
  switch (rule) {
    case TextRule::fix_html:
      return fix_html(text, spare);
    case TextRule::replace_rep:
      return replace_rep(text, spare);
    case TextRule::replace_wrep:
      return replace_wrep(text, spare);
    case TextRule::spec_add_spaces:
      return spec_add_spaces(text, spare);
    case TextRule::rm_useless_spaces:
      return rm_useless_spaces(text);
    case TextRule::replace_all_caps:
      return mark_capitals(text, spare, {"xxup ", 'a', 'z'});
    case TextRule::replace_maj:
      return mark_capitals(text, spare, {"xxmaj ", 'A', 'Z'});
    case TextRule::lowercase:
      return lowercase(text, spare);
  }
}

}  // namespace ddptrain
