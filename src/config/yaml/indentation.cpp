#include "config/yaml/indentation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "base/text.h"
#include "config/finding.h"

namespace ddptrain {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string columns(std::size_t column) { return fmt::format("column {}", column + 1); }

}  // namespace

void Indentation::new_document() {
  levels_.clear();
  plain_.reset();
}

std::optional<std::size_t> Indentation::column() const {
  if (levels_.empty()) return {};
  return levels_.back().column;
}

void Indentation::line(std::size_t column, std::size_t at, bool is_entry) {
  if (!plain_) return;
  // Text on a line of its own is a value unless more follows inside the same entry.
  const auto pending = *plain_;
  plain_.reset();
  if (pending.parent && column <= *pending.parent) return;
  if (is_entry) not_an_entry(pending.at);
  second_line(at);
}

void Indentation::value(bool plain) {
  plain_value_ = plain;
  item_.reset();
  if (!levels_.empty()) levels_.back().open = false;
  empty_ = false;
}

void Indentation::plain_item(std::size_t at) {
  value(true);
  item_ = at;
}

void Indentation::value_line(std::size_t column, std::size_t at, bool plain) {
  if (plain && plain_value_ && !levels_.empty() && levels_.back().column < column) second_line(at);
  while (!levels_.empty() && levels_.back().column >= column) levels_.pop_back();
  const bool expected = levels_.empty() ? empty_ : levels_.back().open;
  if (!expected) not_an_entry(at);
  if (plain) {
    refuse_missing_space(at);
    plain_ = Pending{at, this->column()};
  }
  value();
}

/// Whether an entry continues the map or list whose column it has.
bool Indentation::continues_level(std::size_t column, std::size_t at, bool list) {
  if (levels_.empty() || levels_.back().column != column) return false;
  // The items of a list may stand at the column of its key.
  const auto below = levels_.size() - 2;
  const bool shares = levels_.size() > 1 && levels_[below].column == column && !levels_[below].list;
  if (!list && levels_.back().list && shares) levels_.pop_back();
  auto& level = levels_.back();
  if (level.list == list) return level.open = true;
  if (level.list)
    refuse_at(at, "a key among the items of a list; a '-' is missing, or the indentation is wrong");
  if (!level.open)
    refuse_at(at, "a '-' among the keys of a map; leave it out, or give the list a key of its own");
  return false;
}

void Indentation::enter(std::size_t column, std::size_t at, bool list) {
  std::optional<std::size_t> siblings;
  const auto item = std::exchange(item_, {});
  plain_value_ = false;
  while (!levels_.empty() && levels_.back().column > column) {
    siblings = levels_.back().column;
    levels_.pop_back();
  }
  empty_ = false;
  if (continues_level(column, at, list)) return;
  if (siblings && !levels_.empty() && levels_.back().column < column)
    refuse_at(at, fmt::format("the indentation fits nothing above; its siblings stand at {} or {}",
                              columns(*siblings), columns(levels_.back().column)));
  if (siblings && levels_.empty())
    refuse_at(at, "indented less than what stands above, at " + columns(*siblings));
  if (item && !levels_.empty() && levels_.back().column < column) refuse_item_with_keys(*item);
  if (!levels_.empty() && !levels_.back().open)
    refuse_at(
        at, "indented deeper than its siblings, which stand at " + columns(levels_.back().column));
  if (!levels_.empty()) levels_.back().open = false;
  levels_.push_back({column, list, true});
}

/// "-relu" is text to YAML; which is never meant.
void Indentation::refuse_tight_dash(std::size_t at) const {
  const auto rest = text_.substr(at);
  if (rest.size() > 1 && rest[0] == '-' && (is_letter(rest[1]) || rest[1] == '{'))
    refuse_at(at, "a space is missing after the '-'");
}

/// Neither is the text "lr:0.1" ever meant.
void Indentation::refuse_missing_space(std::size_t at) const {
  refuse_tight_dash(at);
  const auto rest = text_.substr(at);
  std::size_t end = 0;
  while (end < rest.size() && in_word(rest[end])) ++end;
  const bool colon = end > 0 && end + 1 < rest.size() && rest[end] == ':';
  const bool address = colon && (rest[end + 1] == '/' || rest[end + 1] == '\\');
  if (colon && !address && !is_space(rest[end + 1]) && is_letter(rest[0]))
    refuse_at(at + end, "a space is missing after the ':'");
}

/// "lr 0.1" or "lr = 0.1".
void Indentation::refuse_missing_colon(std::size_t at) const {
  const auto rest = text_.substr(at);
  std::size_t end = 0;
  while (end < rest.size() && in_word(rest[end])) ++end;
  if (end == 0 || !is_letter(rest[0])) return;
  const auto next = rest.find_first_not_of(" \t", end);
  if (next != std::string_view::npos && rest[next] == '=')
    refuse_at(at + next, "'=' where a ':' belongs");
  if (end == rest.size() || is_space(rest[end]))
    refuse_at(at + end, fmt::format("a ':' is missing after '{}'", rest.substr(0, end)));
}

/// "- lr = 0.1" or "- lr 0.1" and, on the next line, more keys of that item.
void Indentation::refuse_item_with_keys(std::size_t at) const {
  const auto whole = text_.substr(at, text_.find('\n', at) - at);
  const auto line = trim(whole.substr(0, whole.find(" #")));
  std::size_t end = 0;
  while (end < line.size() && in_word(line[end])) ++end;
  auto next = line.find_first_not_of(" \t", end);
  if (end == 0 || !is_letter(line[0]) || next == std::string_view::npos) return;
  const bool equals = line[next] == '=';
  if (!equals && next == end) return;
  if (equals) next = std::min(line.find_first_not_of(" \t", next + 1), line.size());
  const std::string key(line.substr(0, end)), value(line.substr(next));
  refuse_at(equals ? at + line.find('=') : at + end,
            fmt::format("{}; write '{}: {}'",
                        equals ? "'=' where a ':' belongs" : "a ':' is missing after '" + key + "'",
                        key, value));
}

void Indentation::refuse_key(std::size_t at, std::size_t end) const {
  const auto key = text_.substr(at, end - at);
  refuse_missing_space(at);
  if (key.find_first_of("{[=") != std::string_view::npos) refuse_missing_colon(at);
}

void Indentation::not_an_entry(std::size_t at) const {
  refuse_missing_space(at);
  refuse_missing_colon(at);
  refuse_at(at, "text where a key or a '-' belongs; long text is written with '|' or '>'");
}

/// "name: one" and "two" on the next line, which YAML joins; as often it is a key without its ':'.
void Indentation::second_line(std::size_t at) const {
  refuse_missing_space(at);
  const auto rest = text_.substr(at);
  std::size_t end = 0;
  while (end < rest.size() && in_word(rest[end])) ++end;
  const auto next = rest.find_first_not_of(" \t", end);
  if (end > 0 && next != std::string_view::npos && rest[next] == '=')
    refuse_at(at + next, "'=' where a ':' belongs");
  const std::string word(rest.substr(0, end));
  refuse_at(at,
            "text goes on from the line above; write it on one line, or with '|' or '>'" +
                (word.empty() ? word : "; if '" + word + "' is a key, a ':' is missing after it"));
}

}  // namespace ddptrain
