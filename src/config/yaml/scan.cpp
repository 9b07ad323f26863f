#include "config/yaml/scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "config/finding.h"
#include "config/yaml/characters.h"
#include "config/yaml/flow.h"
#include "config/yaml/indentation.h"

namespace ddptrain {
namespace {

bool is_space_or_tab(char c) { return c == ' ' || c == '\t'; }

/// Walks the lines as YAML does, as far as is needed to know what each one starts with.
class Scanner {
 public:
  Scanner(std::string_view text, std::vector<std::size_t>& pairs)
      : text_(text), pairs_(pairs), levels_(text), flow_(text, pairs) {}

  void run() {
    for (; at_ < text_.size(); at_ = end_ + 1) {
      start_ = at_;
      end_ = std::min(text_.find('\n', at_), text_.size());
      if (!in_block_scalar()) line();
    }
    flow_.end();
  }

 private:
  std::size_t column() const { return at_ - start_; }
  char now() const { return text_[at_]; }
  bool blank_or_end(std::size_t at) const {
    return at >= end_ || is_space_or_tab(text_[at]) || text_[at] == '\r';
  }
  void skip_blanks() {
    while (at_ < end_ && blank_or_end(at_)) ++at_;
  }
  /// A '#' begins a comment at the start of a line or behind a blank.
  bool at_end() const {
    if (at_ < end_ && now() == '#' && at_ > start_ && !is_space_or_tab(text_[at_ - 1]))
      refuse_at(at_, kTightComment);
    return at_ >= end_ || now() == '#';
  }

  void line() {
    while (at_ < end_ && is_space_or_tab(now())) {
      if (now() == '\t') tab();
      ++at_;
    }
    if (at_ < end_ && now() == '\r') ++at_;
    if (at_end()) return;
    refuse_invisible(text_, at_);
    if (flow_.open()) return flow_line();
    if (column() == 0 && now() == '%')
      refuse_at(at_, "directives are not read; leave this line out", "directive");
    if (document_mark()) return;
    levels_.line(column(), at_, is_entry());
    entry();
  }

  /// Whether a key or a dash starts here.
  bool is_entry() const {
    if (now() == '-' && blank_or_end(at_ + 1)) return true;
    for (auto i = at_; i < end_; ++i)
      if (text_[i] == ':' && blank_or_end(i + 1)) return true;
    return false;
  }

  void tab() const {
    const bool blank_line = trim(text_.substr(at_, end_ - at_)).empty();
    if (blank_line) return;
    refuse_at(at_, "a tab stands before the text of this line; write spaces", "tab");
  }

  bool in_block_scalar() {
    if (!block_) return false;
    const auto content = text_.substr(start_, end_ - start_);
    const auto indent = content.find_first_not_of(' ');
    if (trim(content).empty()) return true;
    if (indent > *block_) {
      if (!block_text_) block_text_ = indent;
      if (indent < *block_text_)
        refuse_at(start_ + indent,
                  fmt::format("left of the text of the '|' or '>' above, which starts at column {}",
                              *block_text_ + 1));
      return true;
    }
    block_.reset();
    return false;
  }

  /// "|", ">-", "|2+": `at_` is behind the mark.
  void block_header() {
    block_ = owner_;
    block_text_.reset();
    const auto mark = at_++;
    const auto sign = [&] { return at_ < end_ && (now() == '-' || now() == '+') && ++at_; };
    const bool first = sign();
    if (at_ < end_ && now() >= '1' && now() <= '9') {
      block_text_ = 0;  // given, so that any line may stand further right
      ++at_;
    }
    if (!first) sign();
    skip_blanks();
    if (at_end()) return;
    refuse_at(at_, fmt::format("the text of '{}' starts on the next line; on its own stand '-' or "
                               "'+' and an indentation of 1 to 9 at most",
                               text_[mark]));
  }

  /// `---` and `...`; what follows `---` on its line starts the document.
  bool document_mark() {
    const auto mark = text_.substr(at_, 3);
    if (column() != 0 || (mark != "---" && mark != "...") || !blank_or_end(at_ + 3)) return false;
    levels_.new_document();
    at_ += 3;
    skip_blanks();
    return at_end();
  }

  /// Dashes, then a key or a value.
  void entry() {
    dashes_ = 0;
    while (now() == '-' && blank_or_end(at_ + 1)) {
      owner_ = column();
      levels_.dash(column(), at_);
      if (at_ + 1 < end_ && text_[at_ + 1] == '\t')
        refuse_at(at_ + 1, "a tab stands behind the '-'; write a space", "tab");
      ++dashes_;
      ++at_;
      skip_blanks();
      if (at_end()) return;
    }
    if (now() == '?' && blank_or_end(at_ + 1))
      refuse_at(at_, "'? ' keys are not read; write 'key: value'", "key");
    skip_anchor();
    if (at_end()) return;
    const auto first = at_;
    const bool plain = skip_scalar();
    if (at_ < end_ && now() == ':') return key(first, plain);
    if (dashes_ == 0)
      levels_.value_line(first - start_, first, plain);
    else if (plain)
      levels_.plain_item(first);
    else
      levels_.value();
    nothing_follows();
  }

  void key(std::size_t first, bool plain) {
    if (first == at_) refuse_at(at_, "a key is missing before the ':'", "key");
    if (plain) levels_.refuse_key(first, at_);
    if (!blank_or_end(at_ + 1)) refuse_at(at_, "a space is missing after the ':'");
    owner_ = first - start_;
    levels_.key(owner_, first);
    ++at_;
    skip_blanks();
    skip_anchor();
    if (at_end()) return;
    if (now() == '-' && blank_or_end(at_ + 1))
      refuse_at(at_, "a list starts on a line of its own, or is written [a, b]");
    value_ = at_;
    levels_.value(skip_scalar());
    if (at_ < end_ && now() == ':') second_colon(first);
    nothing_follows();
  }

  /// "batch: global: 64}" or "key: value: more".
  [[noreturn]] void second_colon(std::size_t key) const {
    const char closing = surplus_bracket(text_.substr(value_, end_ - value_));
    if (closing) no_opening(closing, closing == '}' && dashes_ > 0 ? key : value_);
    refuse_at(at_, "a second ':' on this line; text that holds ': ' needs quotes");
  }

  [[noreturn]] static void no_opening(char closing, std::size_t at) {
    refuse_at(at, fmt::format("a '{}' is missing before this", closing == '}' ? '{' : '['));
  }

  void skip_anchor() {
    if (at_ >= end_ || now() != '&') return;
    while (!blank_or_end(at_)) ++at_;
    skip_blanks();
    if (at_ < end_ && now() == '&') refuse_at(at_, "a value has one anchor; this is a second");
    if (at_ < end_ && now() == '*') refuse_at(at_, "an alias has no anchor of its own");
  }

  /// A scalar or flow up to its end or to the ':' behind it; whether it was plain.
  bool skip_scalar() {
    const char c = now();
    refuse_start(text_, at_);
    if (c == '?' && blank_or_end(at_ + 1)) refuse_at(at_, "'?' alone is no text; put it in quotes");
    if (c == '[' || c == '{' || c == ']' || c == '}') {
      at_ = flow_.read(at_, end_);
    } else if (c == '\'' || c == '"') {
      at_ = end_of_quoted(text_, at_, end_, pairs_);
    } else if (c == '|' || c == '>') {
      block_header();
      at_ = end_;
    } else if (c == '*') {
      while (!blank_or_end(at_)) ++at_;
    } else {
      skip_plain();
      return true;
    }
    skip_blanks();
    return false;
  }

  void skip_plain() {
    for (; at_ < end_; ++at_) {
      refuse_invisible(text_, at_);
      if (now() == '#' && is_space_or_tab(text_[at_ - 1])) return;
      if (now() == ':' && blank_or_end(at_ + 1)) return;
    }
  }

  void nothing_follows() {
    skip_blanks();
    if (at_end()) return;
    if (now() == ']' || now() == '}') {
      const char opening = value_ < at_ ? text_[value_] : ' ';
      const bool other = opening == (now() == ']' ? '{' : '[');
      if (other) no_opening(now(), value_);
      refuse_at(at_, fmt::format("'{}' closes nothing; text needs quotes", now()));
    }
    refuse_at(at_,
              "text behind the end of a value; a value with quotes inside needs quotes around");
  }

  void flow_line() {
    const auto outside = levels_.column();
    if (outside && column() <= *outside) flow_.line_outside(at_);
    at_ = flow_.read(at_, end_);
    if (!flow_.open()) nothing_follows();
  }

  std::string_view text_;
  std::vector<std::size_t>& pairs_;
  std::size_t at_ = 0;
  std::size_t start_ = 0, end_ = 0;  // of the line
  Indentation levels_;
  Flow flow_;
  int dashes_ = 0;                    // of this line
  std::size_t value_ = 0;             // where the value of the key of this line starts
  std::size_t owner_ = 0;             // column of the key or dash that a block scalar belongs to
  std::optional<std::size_t> block_;  // that column, inside one
  std::optional<std::size_t> block_text_;  // where the text of it starts, once known
};

std::optional<Finding> scan_characters(std::string_view text) {
  if (const auto bad = find_invalid_utf8(text))
    return Finding{*bad, "encoding", "this is not UTF-8"};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool line_end = c == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if ((c >= 0x20 && c != 0x7F) || c == '\t' || c == '\n' || line_end) continue;
    return Finding{i, "control-character",
                   fmt::format("a control character (code {}) cannot stand here", c)};
  }
  return {};
}

std::optional<Finding> scan_structure(std::string_view text, std::vector<std::size_t>& pairs) {
  try {
    Scanner(text, pairs).run();
  } catch (Finding& found) {
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
  const auto rest = text.substr(std::min(byte, text.size()));
  if (rest.starts_with('|') || rest.starts_with('>')) return 1;
  const auto on_line = [&](std::size_t size) {
    const auto part = rest.substr(0, size);
    return static_cast<int>(
        std::max<std::size_t>(1, count_characters(part.substr(0, part.find('\n')))));
  };
  if (!rest.starts_with('\'') && !rest.starts_with('"')) return on_line(value.size());
  std::size_t end = 1;
  while (end < rest.size() && rest[end] != rest[0] && rest[end] != '\n')
    end += rest[end] == '\\' ? 2 : 1;
  return on_line(end + 1);
}

std::optional<Problem> scan_yaml(std::string_view text, const std::string& file,
                                 std::vector<std::size_t>& pairs) {
  auto found = scan_characters(text);
  if (!found) found = scan_structure(text, pairs);
  if (!found) return {};
  return Problem{Severity::error, found->rule, place_at(text, file, found->at), "", found->message};
}

}  // namespace ddptrain
