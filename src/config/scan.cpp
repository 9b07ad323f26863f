#include "config/scan.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace ddptrain {
namespace {

struct Found {
  std::size_t at;
  std::string rule;
  std::string message;
};

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Walks the lines as YAML does, as far as is needed to know where tokens start.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  void run() {
    while (at_ < text_.size()) line();
    if (!open_.empty()) fail(open_.back().at, "syntax", open_text() + " is not closed");
  }

 private:
  struct Bracket {
    char kind;
    std::size_t at;
    std::size_t entry = 0;  // where the entry under way starts, of a `{`
    bool content = false;
    bool colon = false;
  };

  [[noreturn]] static void fail(std::size_t at, std::string rule, std::string message) {
    throw Found{at, std::move(rule), std::move(message)};
  }

  std::string open_text() const { return std::string("'") + open_.back().kind + "'"; }

  void line() {
    end_ = std::min(text_.find('\n', at_), text_.size());
    const auto start = at_;
    if (in_block_scalar(start)) return next_line();
    if (text_[start] == '%' && open_.empty())
      fail(start, "directive", "directives are not read; leave this line out");
    while (at_ < end_ && is_blank(text_[at_])) {
      if (text_[at_] == '\t') tab();
      ++at_;
    }
    fresh_ = true;
    owner_ = at_ - start;
    while (at_ < end_) token(start);
    next_line();
  }

  void tab() const {
    const bool blank_line = trim(text_.substr(at_, end_ - at_)).empty();
    if (!blank_line) fail(at_, "tab", "a tab stands before the text of this line; write spaces");
  }

  void next_line() { at_ = end_ + 1; }

  bool in_block_scalar(std::size_t start) {
    if (!block_) return false;
    const auto content = text_.substr(start, end_ - start);
    const auto indent = content.find_first_not_of(' ');
    if (trim(content).empty() || indent > block_indent_) return true;
    block_ = false;
    return false;
  }

  bool blank_or_end(std::size_t at) const {
    return at >= end_ || is_blank(text_[at]) || text_[at] == '\r';
  }

  bool in_flow() const { return !open_.empty(); }
  static bool is_flow_mark(char c) {
    return c == ',' || c == '[' || c == ']' || c == '{' || c == '}';
  }

  /// One step on a line; `fresh_` says whether a new token may start here.
  void token(std::size_t line_start) {
    const char c = text_[at_];
    if (is_blank(c) || c == '\r') {
      ++at_;
      return;
    }
    if (c == '#' && (at_ == line_start || is_blank(text_[at_ - 1]))) {
      at_ = end_;
      return;
    }
    if (in_flow() && is_flow_mark(c)) return flow_mark(c);
    if (c == ':' && ends_key()) return colon();
    if (!fresh_) return plain();
    start_token(line_start, c);
  }

  bool ends_key() const {
    if (blank_or_end(at_ + 1)) return true;
    if (!in_flow()) return false;
    return is_flow_mark(text_[at_ + 1]) || after_quote_;
  }

  void start_token(std::size_t line_start, char c) {
    note_content();
    after_quote_ = false;
    if ((c == '-' || c == '?') && blank_or_end(at_ + 1)) {
      owner_ = at_ - line_start;
      ++at_;
      return;
    }
    if (c == '[' || c == '{') return flow_mark(c);
    if (c == '\'' || c == '"') return quoted(c);
    if (c == '!') fail(at_, "tag", "tags are not read; leave it out");
    if (c == '&' || c == '*') return anchor();
    if ((c == '|' || c == '>') && !in_flow()) return block_scalar();
    if (!value_) owner_ = at_ - line_start;
    plain();
  }

  void note_content() {
    if (!in_flow() || open_.back().content) return;
    open_.back().content = true;
    open_.back().entry = at_;
  }

  void flow_mark(char c) {
    if (c == '[' || c == '{') {
      note_content();
      open_.push_back({c, at_});
    } else if (c == ',') {
      end_entry();
    } else {
      end_entry();
      if ((c == ']') != (open_.back().kind == '['))
        fail(at_, "syntax", std::string("'") + c + "' does not close " + open_text());
      open_.pop_back();
    }
    after_quote_ = c == ']' || c == '}';
    fresh_ = true;
    ++at_;
  }

  void end_entry() {
    auto& bracket = open_.back();
    if (bracket.kind == '{' && bracket.content && !bracket.colon)
      fail(bracket.entry, "syntax",
           "a key without a value in '{ }'; write 'key: value', or '[ ]' for a list");
    bracket.content = bracket.colon = false;
  }

  void colon() {
    if (in_flow()) open_.back().colon = true;
    fresh_ = value_ = true;
    after_quote_ = false;
    ++at_;
  }

  void quoted(char quote) {
    for (auto at = at_ + 1; at < end_; ++at) {
      if (quote == '"' && text_[at] == '\\') {
        ++at;
      } else if (text_[at] == quote) {
        const bool doubled = quote == '\'' && at + 1 < end_ && text_[at + 1] == quote;
        if (doubled) {
          ++at;
          continue;
        }
        at_ = at + 1;
        fresh_ = value_ = false;
        after_quote_ = true;
        return;
      }
    }
    fail(at_, "quote", "the quote is not closed on its line; long text is written with '|' or '>'");
  }

  void anchor() {
    while (at_ < end_ && !is_blank(text_[at_]) && !(in_flow() && is_flow_mark(text_[at_]))) ++at_;
  }

  void block_scalar() {
    block_ = true;
    block_indent_ = owner_;
    at_ = end_;
    value_ = false;
  }

  /// The rest of a plain scalar up to what ends it.
  void plain() {
    fresh_ = value_ = false;
    while (at_ < end_) {
      const char c = text_[at_];
      if (c == '#' && is_blank(text_[at_ - 1])) return;
      if (c == ':' && ends_key()) return;
      if (in_flow() && is_flow_mark(c)) return;
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;  // of the line
  std::vector<Bracket> open_;
  bool fresh_ = true;         // a token may start here
  bool value_ = false;        // after a colon
  bool after_quote_ = false;  // in flow a colon may touch what a quote or bracket closed
  std::size_t owner_ = 0;     // column of the key or dash that a block scalar belongs to
  bool block_ = false;
  std::size_t block_indent_ = 0;
};

std::optional<Found> scan_characters(std::string_view text) {
  if (const auto bad = find_invalid_utf8(text)) return Found{*bad, "encoding", "this is not UTF-8"};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool line_end = c == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if ((c >= 0x20 && c != 0x7F) || c == '\t' || c == '\n' || line_end) continue;
    return Found{i, "control-character",
                 "a control character (code " + std::to_string(c) + ") cannot stand here"};
  }
  return {};
}

std::optional<Found> scan_structure(std::string_view text) {
  try {
    Scanner(text).run();
  } catch (Found& found) {
    return std::move(found);
  }
  return {};
}

}  // namespace

Place place_at(std::string_view text, const std::string& file, std::size_t byte) {
  byte = std::min(byte, text.size());
  const auto before = text.substr(0, byte);
  const auto line = std::count(before.begin(), before.end(), '\n');
  const auto start = before.rfind('\n') + 1;
  // What precedes an invalid byte is valid UTF-8, so the count is right there too.
  return {file, static_cast<int>(line) + 1,
          static_cast<int>(count_characters(before.substr(start))) + 1, 1};
}

int width_at(std::string_view text, std::size_t byte, std::string_view value) {
  auto rest = text.substr(std::min(byte, text.size()));
  rest = rest.substr(0, rest.find('\n'));
  if (rest.starts_with('|') || rest.starts_with('>')) return 1;
  if (!rest.starts_with('\'') && !rest.starts_with('"'))
    return static_cast<int>(
        std::max<std::size_t>(1, std::min(count_characters(value), count_characters(rest))));
  std::size_t end = 1;
  while (end < rest.size() && rest[end] != rest[0]) end += rest[end] == '\\' ? 2 : 1;
  return static_cast<int>(count_characters(rest.substr(0, end + 1)));
}

std::optional<Problem> scan_yaml(std::string_view text, const std::string& file) {
  auto found = scan_characters(text);
  if (!found) found = scan_structure(text);
  if (!found) return {};
  return Problem{Severity::error, found->rule, place_at(text, file, found->at), "", found->message};
}

}  // namespace ddptrain
