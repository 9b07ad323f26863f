#include "config/yaml/flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "config/finding.h"
#include "config/yaml/characters.h"

namespace ddptrain {
namespace {

bool is_white_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_mark(char c) { return c == ',' || c == '[' || c == ']' || c == '{' || c == '}'; }
bool closes(char closing, char opening) { return (closing == ']') == (opening == '['); }

std::string in_quotes(char c) {
  const char quote = c == '\'' ? '"' : '\'';
  return std::string{quote, c, quote};
}

std::string no_colon_after(std::string_view word) {
  return fmt::format("a ':' is missing after '{}'", word);
}

/// "lr:0.1": where the colon is that no space follows.
std::optional<std::size_t> tight_colon(std::string_view text, std::size_t from) {
  const auto in_word = [&](std::size_t at) {
    return std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_';
  };
  auto at = from;
  while (at < text.size() && in_word(at)) ++at;
  const bool found = at > from && at < text.size() && text[at] == ':';
  return found ? std::optional(at) : std::nullopt;
}

}  // namespace

std::size_t end_of_quoted(std::string_view text, std::size_t at, std::size_t end,
                          std::vector<std::size_t>& pairs) {
  const char quote = text[at];
  for (auto i = at + 1; i < end; ++i) {
    const bool doubled = quote == '\'' && text[i] == quote && i + 1 < end && text[i + 1] == quote;
    if (quote == '"' && text[i] == '\\') {
      const auto size = escape_size(text, i, end);
      if (size == kPairSize) pairs.push_back(i);
      i += size - 1;
    } else if (doubled) {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  refuse_at(at, "the quote is not closed on its line; long text is written with '|' or '>'",
            "quote");
}

char surplus_bracket(std::string_view text) {
  std::string open;
  for (const char c : text) {
    if (c == '[' || c == '{') open += c;
    if (c != ']' && c != '}') continue;
    if (open.empty() || !closes(c, open.back())) return c;
    open.pop_back();
  }
  return 0;
}

void refuse_start(std::string_view text, std::size_t at) {
  const char c = text[at];
  refuse_lookalike(text, at);
  if (c == '!') refuse_at(at, "tags are not read; leave it out, or put the text in quotes", "tag");
  if (c == '@' || c == '`' || c == '%' || c == ',')
    refuse_at(at, fmt::format("text that starts with {} needs quotes", in_quotes(c)));
}

std::size_t Flow::read(std::size_t at, std::size_t end) {
  do {
    while (at < end && is_white_space(text_[at])) ++at;
    if (at >= end) return end;
    if (text_[at] == '#' && is_white_space(text_[at - 1])) return end;
    at = token(at, end);
  } while (open());
  return at;
}

bool Flow::mark(std::size_t at, std::size_t end) {
  const char c = text_[at];
  if (open() && is_colon(at, end)) {
    colon(at);
    return true;
  }
  if (open() && c == ',') {
    if (!brackets_.back().content)
      refuse_at(at, "nothing stands before this ','; leave it out, or write null");
    end_entry();
    return true;
  }
  if (c != ']' && c != '}') return false;
  close(at);
  return true;
}

std::size_t Flow::token(std::size_t at, std::size_t end) {
  const char c = text_[at];
  refuse_invisible(text_, at);
  if (mark(at, end)) return at + 1;
  if (open()) start(at);
  if (c == '[' || c == '{') {
    brackets_.push_back({c, at});
    return at + 1;
  }
  refuse_start(text_, at);
  if (c == '&') {  // an anchor, then what it names
    while (at < end && !is_white_space(text_[at]) && !is_mark(text_[at])) ++at;
    return at;
  }
  if (c == '\'' || c == '"') {
    const auto after = end_of_quoted(text_, at, end, pairs_);
    brackets_.back().done = true;
    return after;
  }
  refuse_word(at, end);
  brackets_.back().done = true;
  return plain(at, end);
}

/// Marks of the block style that stand alone, and a comment that no blank precedes.
void Flow::refuse_word(std::size_t at, std::size_t end) const {
  const char c = text_[at];
  const bool alone = at + 1 >= end || is_white_space(text_[at + 1]) || is_mark(text_[at + 1]);
  if (c == '-' && alone) refuse_at(at, "a '-' has no meaning in brackets; text needs quotes");
  if (c == '?' && alone) refuse_at(at, "'? ' keys are not read; write 'key: value'", "key");
  if (c == '#') refuse_at(at, kTightComment);
}

void Flow::start(std::size_t at) {
  auto& bracket = brackets_.back();
  if (bracket.done) missing_mark(at);
  if (bracket.colon && bracket.value < bracket.entry) bracket.value = at;
  if (bracket.content) return;
  bracket.content = true;
  bracket.entry = at;
}

/// "{valid {fraction: 0.2}}", "['a' 'b']" or "${env:NAME}".
void Flow::missing_mark(std::size_t at) const {
  const auto& bracket = brackets_.back();
  if (text_[at] == '{' && text_[at - 1] == '$')
    refuse_at(at - 1, "'${...}' between brackets needs quotes");
  const auto entry = text_.substr(bracket.entry, at - bracket.entry);
  const auto word = entry.substr(0, entry.find_last_not_of(" \t\r\n") + 1);
  if (bracket.kind == '{' && !bracket.colon)
    refuse_at(bracket.entry + word.size(), no_colon_after(word));
  if (text_[at] == '#') refuse_at(at, kTightComment);
  const bool next_line = entry.find('\n') != std::string_view::npos;
  refuse_at(at, std::string("a ',' is missing before this") +
                    (next_line ? "; text in brackets stands on one line" : ""));
}

bool Flow::is_colon(std::size_t at, std::size_t end) const {
  if (text_[at] != ':') return false;
  const bool followed_by_space =
      at + 1 >= end || is_white_space(text_[at + 1]) || is_mark(text_[at + 1]);
  const bool behind_quote =
      at > 0 && brackets_.back().done && (text_[at - 1] == '"' || text_[at - 1] == '\'');
  return followed_by_space || behind_quote;
}

void Flow::colon(std::size_t at) {
  auto& bracket = brackets_.back();
  if (bracket.colon) {
    auto word = at;
    while (word > bracket.at && !is_white_space(text_[word - 1]) && !is_mark(text_[word - 1]))
      --word;
    refuse_at(word, fmt::format("a ',' is missing before '{}'", text_.substr(word, at - word)));
  }
  bracket.colon = true;
  bracket.done = false;
}

void Flow::end_entry() {
  auto& bracket = brackets_.back();
  if (bracket.kind == '{' && bracket.content && !bracket.colon) no_value();
  if (bracket.content && !bracket.colon) bracket.pairs = 0;
  if (bracket.content && bracket.colon && bracket.pairs == 0) bracket.pairs = bracket.entry;
  bracket.content = bracket.colon = bracket.done = false;
}

/// "{lr:0.1}", "{lr 0.1}", "{betas: 0.9, 0.99]}" or "{lr}".
void Flow::no_value() const {
  const auto& bracket = brackets_.back();
  if (const auto colon = tight_colon(text_, bracket.entry))
    refuse_at(*colon, "a space is missing after the ':'");
  const auto next = text_.find_first_of("[]{}\n", bracket.entry);
  const bool list = next != std::string_view::npos && text_[next] == ']';
  if (list && bracket.value > bracket.at) refuse_at(bracket.value, "a '[' is missing before this");
  const auto entry = text_.substr(bracket.entry);
  const auto word = entry.substr(0, entry.find_first_of(" ,]}\r\n"));
  const bool more = entry.size() > word.size() && entry[word.size()] == ' ';
  if (more) refuse_at(bracket.entry + word.size(), no_colon_after(word));
  refuse_at(bracket.entry,
            "a key without a value in '{ }'; write 'key: value', or '[ ]' for a list");
}

void Flow::close(std::size_t at) {
  const char c = text_[at];
  if (!open()) refuse_at(at, fmt::format("'{}' closes nothing; text needs quotes", c));
  if (!closes(c, brackets_.back().kind)) wrong_bracket(at);
  end_entry();
  brackets_.pop_back();
  if (open()) brackets_.back().done = true;
}

/// A bracket that does not close the innermost open one: that is not closed, or another is missing.
void Flow::wrong_bracket(std::size_t at) const {
  const char c = text_[at];
  const auto& bracket = brackets_.back();
  const bool outer = std::any_of(brackets_.begin(), brackets_.end(),
                                 [&](const Bracket& b) { return closes(c, b.kind); });
  if (outer) unclosed();
  if (c == ']' && bracket.content && !bracket.colon) no_value();
  if (c == '}' && bracket.colon)
    refuse_at(bracket.pairs > 0 ? bracket.pairs : bracket.entry, "a '{' is missing before this");
  refuse_at(at, fmt::format("'{}' does not close '{}'", c, bracket.kind));
}

std::size_t Flow::plain(std::size_t at, std::size_t end) const {
  for (auto i = at; i < end; ++i) {
    refuse_invisible(text_, i);
    if (is_mark(text_[i])) return i;
    if (text_[i] == '#' && is_white_space(text_[i - 1])) return i;
    const bool colon =
        text_[i] == ':' && (i + 1 >= end || is_white_space(text_[i + 1]) || is_mark(text_[i + 1]));
    if (colon) return i;
  }
  return end;
}

void Flow::line_outside(std::size_t at) const {
  if (text_[at] != ']' && text_[at] != '}' && text_[at] != ',') unclosed();
}

void Flow::end() const {
  if (open()) unclosed();
}

void Flow::unclosed() const {
  refuse_at(brackets_.back().at, fmt::format("'{}' is not closed", brackets_.back().kind));
}

}  // namespace ddptrain
