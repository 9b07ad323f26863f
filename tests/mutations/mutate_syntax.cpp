// Broken YAML, and bytes that are none.
#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "mutations/mutations.h"

namespace ddptrain::test {
namespace {

bool is_plain(const Spot& spot) { return spot.value->is_scalar() && !spot.value->quoted; }

/// Colons, spaces and indentation around a key.
void around_keys(Surgery& surgery, const Spot& spot) {
  const auto& text = surgery.text();
  const auto colon = spot.at + spot.key.size();
  const auto start = surgery.line_start(spot.at);
  const bool same_line = spot.value_at > colon && spot.value_at < surgery.line_end(spot.at);
  if (same_line && is_plain(spot) && text[spot.value_at] != '$') {
    surgery.replace("no space after ':'", colon + 1, spot.value_at - colon - 1, "", colon);
    surgery.replace("no-break space", colon + 1, 1, "\xC2\xA0", colon + 1);
    const auto odd = std::string_view("@`*!%").substr(surgery.draw(5), 1);
    surgery.insert("odd start", spot.value_at, odd, spot.value_at);
  }
  if (same_line) surgery.replace("no colon", colon, 1, "", colon);
  if (spot.flow) return;
  if (same_line && is_plain(spot)) {
    const auto end = spot.value_at + spot.value_size;
    surgery.insert("second colon", end, ": more", end);
    surgery.replace("'='", colon, 1, " =", colon + 1);
  }
  const auto margin = spot.at - start;
  const bool key_starts_line = text.find_first_not_of(' ', start) == spot.at;
  if (margin == 0 || !key_starts_line) return;
  surgery.replace("tab", start, margin, "\t", start);
  surgery.replace("no-break space", start, 1, "\xC2\xA0", start);
  if (spot.first) return;
  surgery.insert("'-' among keys", spot.at, "- ", spot.at);
  surgery.replace("indentation: less", start, 1, "", spot.at - 1);
}

/// A key that stands deeper than the one before it, which has its value on its line.
void deeper(Surgery& surgery) {
  const auto& spots = surgery.spots();
  for (std::size_t i = 1; i < spots.size(); ++i) {
    const auto &before = spots[i - 1], &spot = spots[i];
    const bool siblings = before.map_at == spot.map_at && !spot.flow && before.value->is_scalar();
    if (siblings) surgery.insert("indentation: more", spot.at, "  ", spot.at + 2);
  }
}

/// Brackets outside of quotes and comments, each closing one with its opening one.
struct Brackets {
  std::vector<std::size_t> all;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::size_t unclosed = 0;  // the one that no bracket closes
};

Brackets brackets_of(std::string_view text) {
  Brackets found;
  std::vector<std::size_t> open;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '#' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\n')) {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '{' && i > 0 && text[i - 1] == '$') {
      i = text.find('}', i);
    } else if (c == '[' || c == '{') {
      found.all.push_back(i);
      open.push_back(i);
    } else if (c == ']' || c == '}') {
      found.all.push_back(i);
      while (!open.empty() && (text[open.back()] == '[') != (c == ']')) {
        if (!found.unclosed) found.unclosed = open.back();
        open.pop_back();
      }
      if (open.empty()) continue;
      found.pairs.emplace_back(open.back(), i);
      open.pop_back();
    }
  }
  if (!open.empty() && !found.unclosed) found.unclosed = open.back();
  return found;
}

void brackets(Surgery& surgery) {
  const auto& text = surgery.text();
  for (const auto& [open, close] : brackets_of(text).pairs) {
    auto without = text;
    without.erase(close, 1);
    // Up to the end of what the line had: what follows is another value.
    const auto end = surgery.line_end(close) - 1;
    const auto start = surgery.line_start(open);
    const auto left = brackets_of(std::string_view(without).substr(start, end - start));
    surgery.replace("bracket not closed", close, 1, "", start + left.unclosed);
    surgery.replace("bracket not opened", open, 1, "", open);
  }
}

void quotes(Surgery& surgery) {
  const auto& text = surgery.text();
  for (const auto& spot : surgery.spots()) {
    if (!spot.value->is_scalar() || !spot.value->quoted) continue;
    const auto last = spot.value_at + spot.value_size - 1;
    const auto rest = text.substr(last + 1, surgery.line_end(last) - last - 1);
    // A quote further on closes it as well; then only the line is known.
    if (rest.find(text[last]) == std::string::npos)
      surgery.replace("quote not closed", last, 1, "", spot.value_at);
    const auto inside = text.substr(spot.value_at + 1, spot.value_size - 2);
    surgery.replace("curly quotes", spot.value_at, spot.value_size,
                    "\xE2\x80\x9C" + inside + "\xE2\x80\x9D", spot.value_at);
  }
}

/// Dashes, documents and merge keys, line by line.
void lines(Surgery& surgery) {
  const auto& text = surgery.text();
  for (std::size_t start = 0; start < text.size(); start = surgery.line_end(start) + 1) {
    const auto first = text.find_first_not_of(' ', start);
    if (first == std::string::npos || text[first] == '\n' || text[first] == '#') continue;
    const bool item = text[first] == '-' && text[first + 1] == ' ';
    if (item) surgery.replace("no space after '-'", first + 1, 1, "", first);
    const bool key = first == start && std::islower(static_cast<unsigned char>(text[first]));
    if (!key || start == 0 || text.substr(start).starts_with("recipe:")) continue;
    surgery.insert("second document", start, "---\n", start);
    surgery.insert("merge key", start, "<<: {seed: 1}\n", start);
  }
}

}  // namespace

void mutate_syntax(Surgery& surgery) {
  for (const auto& spot : surgery.spots()) around_keys(surgery, spot);
  deeper(surgery);
  brackets(surgery);
  quotes(surgery);
  lines(surgery);
}

void mutate_bytes(Surgery& surgery) {
  using namespace std::string_view_literals;
  static constexpr std::string_view bytes[] = {
      "\xFF"sv, "\xC3"sv, "\xED\xA0\x80"sv, "\0"sv, "\x01"sv, "\x7F"sv, "\r"sv};
  for (const auto wrong : bytes) {
    for (int i = 0; i < 2; ++i) {
      const auto at = surgery.draw(surgery.text().size() - 1);
      if (wrong == "\r" && surgery.text()[at] == '\n') continue;  // a line end of Windows
      surgery.insert("bytes", at, wrong, at);
    }
  }
}

}  // namespace ddptrain::test
