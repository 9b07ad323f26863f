#include "text/fastai/fastai_rules.h"

#include <array>
#include <cstring>

#include "base/names.h"
#include "text/fastai/html.h"
#include "text/scan.h"
#include "text/unicode.h"

namespace ddptrain {

std::span<const std::string_view> names(TextRule) {
  return kNameList<"fix_html", "replace_rep", "replace_wrep", "spec_add_spaces",
                   "rm_useless_spaces", "replace_all_caps", "replace_maj", "lowercase">;
}

std::span<const std::string_view> fastai_special_tokens() {
  return kNameList<"xxunk", "xxpad", "xxbos", "xxeos", "xxfld", "xxrep", "xxwrep", "xxup", "xxmaj">;
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
  auto at = text.find(by.from);
  if (at == none) return false;
  out.clear();
  std::size_t done = 0;
  for (; at != none; at = text.find(by.from, done)) {
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
  const auto has = [&](char c) { return text.find(c) != none; };
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

/// A place from `at` on before which no character is repeated thrice.
std::size_t skip_single(std::string_view text, std::size_t at) {
  return scan::find<2>(text, at, [](const char* p) {
    const auto first = scan::load(p), second = scan::load(p + 1), third = scan::load(p + 2);
    return scan::zero((first ^ second) | (second ^ third)) | scan::wide(first);
  });
}

void replace_rep(std::string& text, std::string& spare) {
  spare.clear();
  const std::string_view all = text;
  std::size_t done = 0;
  for (auto at = skip_single(all, 0); at + 2 < all.size(); at = skip_single(all, at)) {
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

/// The first space from `at` on, or the end.
std::size_t find_space(std::string_view text, std::size_t at) {
  for (; at < text.size(); at += character_length(text[at])) {
    at = scan::find<0>(text, at, [](const char* p) {
      const auto bytes = scan::load(p);
      return scan::between(bytes, '\0', ' ') | scan::wide(bytes);
    });
    if (at == text.size() || starts_with_space(text.substr(at))) break;
  }
  return at;
}

/// A word with spaces around it, as the search for runs meets them one after the other.
struct Spaced {
  std::size_t space = 0;  // the last one before the word, or the beginning of the text
  std::size_t word = 0;
};

Spaced next_spaced(std::string_view text, std::size_t at) {
  Spaced found;
  found.space = found.word = find_space(text, at);
  for (auto next = found.word; next < text.size() && is_space(next_character(text, next));) {
    found.space = found.word;
    found.word = next;
  }
  return found;
}

// (?:\s|^)(\w+)\s+((?:\1\s+)+)\1(\s|\W|$), each match beginning with the space before the word.
// Only of a word that begins like the one behind the next spaces it is worth while to look further.
void append_wrep(std::string& text, std::size_t count, std::string_view word) {
  text += " xxwrep ";
  text += std::to_string(count);
  text += ' ';
  text += word;
  text += ' ';
}

void replace_wrep(std::string& text, std::string& spare) {
  spare.clear();
  const std::string_view all = text;
  std::size_t done = 0;
  Spaced at;
  if (!all.empty() && starts_with_space(all)) at = next_spaced(all, 0);
  while (at.word < all.size()) {
    const auto next = next_spaced(all, at.word);
    if (next.word >= all.size()) break;
    const auto end = all[at.word] == all[next.word] ? skip_word(all, at.word) : at.word;
    const auto run = end == at.word ? WordRun{} : word_run(all, at.word, end);
    if (run.count < 3) {
      at = next;
      continue;
    }
    auto behind = run.end;
    if (behind < all.size()) next_character(all, behind);
    spare += all.substr(done, at.space - done);
    append_wrep(spare, run.count, all.substr(at.word, end - at.word));
    spare += all.substr(run.end, behind - run.end);
    done = behind;
    at = next_spaced(all, behind);
  }
  if (done == 0) return;
  spare += all.substr(done);
  text.swap(spare);
}

void spec_add_spaces(std::string& text, std::string& spare) {
  if (text.find('/') == none && text.find('#') == none && text.find('\\') == none) return;
  spare.clear();
  const std::string_view all = text;
  std::size_t done = 0;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (all[at] != '/' && all[at] != '#' && all[at] != '\\') continue;
    spare += all.substr(done, at - done);
    spare += ' ';
    spare += all[at];
    spare += ' ';
    done = at + 1;
  }
  spare += all.substr(done);
  text.swap(spare);
}

void rm_useless_spaces(std::string& text) {
  auto to = scan::find<1>(text, 0, [](const char* p) {
    return scan::zero((scan::load(p) ^ scan::each(' ')) | (scan::load(p + 1) ^ scan::each(' ')));
  });
  bool before = false;
  for (auto from = to; from < text.size(); ++from) {
    const bool space = text[from] == ' ';
    text[to] = text[from];
    to += !(space && before);
    before = space;
  }
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

/// The first capital of ASCII from `at` on, or the end.
std::size_t find_capital(std::string_view text, std::size_t at) {
  at =
      scan::find<0>(text, at, [](const char* p) { return scan::between(scan::load(p), 'A', 'Z'); });
  while (at < text.size() && !is_capital(text[at])) ++at;
  return at;
}

bool begins_token(std::string_view text, std::size_t at) {
  return at == 0 || starts_with_space(text.substr(before_character(text, at)));
}

void mark_capitals(std::string& text, std::string& spare, const CapitalRule& rule) {
  spare.clear();
  const std::string_view all = text;
  std::size_t done = 0;
  for (auto at = find_capital(all, 0); at < all.size(); at = find_capital(all, at)) {
    if (!begins_token(all, at)) {
      ++at;
      continue;
    }
    const auto end = skip_token(all, at);
    const auto token = all.substr(at, end - at);
    if (!any_between(token.substr(1), rule.no_first, rule.no_last)) {
      spare += all.substr(done, at - done);
      if (!is_one_character(token)) spare += rule.mark;
      append_lower(spare, token);
      done = end;
    }
    at = end;
  }
  if (done == 0) return;
  spare += all.substr(done);
  text.swap(spare);
}

void lowercase(std::string& text, std::string& spare) {
  spare = "xxbos ";
  append_lower(spare, strip_begin(strip_end(text)));
  text.swap(spare);
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
