#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "config/encode.h"
#include "config/scalar.h"
#include "config/yaml/characters.h"

namespace ddptrain {
namespace {

constexpr std::size_t kFlowWidth = 88;

bool plain_is_safe(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  constexpr std::string_view indicators = ",[]{}#&*!|>'\"%@`";
  if (indicators.find(text.front()) != std::string_view::npos) return false;
  if ((text.front() == '-' || text.front() == '?' || text.front() == ':') &&
      (text.size() == 1 || text[1] == ' '))
    return false;
  if (text == "<<" || text.starts_with("---") || text.starts_with("...")) return false;
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos)
    return false;
  if (is_deceptive(text)) return false;
  // One rule for flow and block: what a bracket would end is quoted everywhere. yaml-cpp also ends
  // plain text in a flow at "? ".
  return std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == ',' || c == '[' || c == ']' ||
           c == '{' || c == '}' || c == '"' || c == '?';
  });
}

std::string in_quotes(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (code < 0x20 || code == 0x7F) {
      quoted += "\\x";
      quoted += digits[code >> 4];
      quoted += digits[code & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string scalar_text(const std::string& text, bool quoted) {
  const bool reads_as_text =
      scalar_kind(Node::scalar(text)) == ScalarKind::text && !is_null_text(text);
  return plain_is_safe(text) && (!quoted || reads_as_text) ? text : in_quotes(text);
}

/// Only words go without quotes: in a block, most other characters of a key would read as a slip
/// ("lr = 1", "a:b", "-x").
std::string key_text(const std::string& key) {
  const auto in_word = [](unsigned char c) { return std::isalnum(c) || c == '_' || c >= 0x80; };
  const auto in_key = [&](unsigned char c) {
    return in_word(c) ||
           std::string_view("-./*+").find(static_cast<char>(c)) != std::string_view::npos;
  };
  const bool plain = !key.empty() && in_word(static_cast<unsigned char>(key[0])) &&
                     std::all_of(key.begin(), key.end(), in_key);
  return plain ? scalar_text(key, true) : in_quotes(key);
}

}  // namespace

std::string to_flow(const Node& node) {
  if (node.is_null()) return "null";
  if (node.is_scalar()) return scalar_text(node.text, node.quoted);
  std::vector<std::string> parts;
  for (const auto& item : node.items) parts.push_back(to_flow(item));
  for (const auto& member : node.members)
    parts.push_back(key_text(member.key) + ": " + to_flow(member.value));
  return (node.is_list() ? "[" : "{") + join(parts, ", ") + (node.is_list() ? "]" : "}");
}

namespace {

bool holds_containers(const Node& node) {
  const auto container = [](const Node& n) { return n.is_list() || n.is_map(); };
  return std::any_of(node.items.begin(), node.items.end(), container) ||
         std::any_of(node.members.begin(), node.members.end(),
                     [&](const Member& m) { return container(m.value); });
}

/// The notes of a value and of those in it.
void collect_notes(const Node& node, std::vector<std::string>& notes) {
  const bool leaf = node.items.empty() && node.members.empty();
  if (leaf || !node.note.empty()) notes.push_back(node.note);
  for (const auto& item : node.items) collect_notes(item, notes);
  for (const auto& member : node.members) collect_notes(member.value, notes);
}

bool notes_agree(const Node& node) {
  std::vector<std::string> notes;
  collect_notes(node, notes);
  return std::adjacent_find(notes.begin(), notes.end(), std::not_equal_to<>()) == notes.end();
}

/// What is noted on a value and the values in it: "auto", or "micro: auto, accumulate: auto".
std::string notes_of(const Node& node) {
  std::vector<std::string> parts;
  if (!node.note.empty()) parts.push_back(node.note);
  for (const auto& item : node.items)
    if (auto inner = notes_of(item); !inner.empty()) parts.push_back(std::move(inner));
  for (const auto& member : node.members)
    if (auto inner = notes_of(member.value); !inner.empty())
      parts.push_back(member.key + ": " + std::move(inner));
  return join(parts, ", ");
}

constexpr char kCommentMark = '\t';  // no text that is written holds one

class YamlWriter {
 public:
  explicit YamlWriter(Comments comments) : comments_(comments) {}

  void block(std::string& out, const Node& node, std::size_t indent) const {
    const std::string margin(indent, ' ');
    for (const auto& member : node.members) {
      const auto key = key_text(member.key);
      out += margin + key + ":";
      after_key(out, member.value, indent, indent + key.size() + 2);
    }
    for (const auto& item : node.items) {
      if (fits_flow(item, indent + 2)) {
        out += fmt::format("{}- {}{}\n", margin, to_flow(item), comment(item));
        continue;
      }
      std::string inner;
      block(inner, item, indent + 2);
      out += margin + "- " + inner.substr(indent + 2);
    }
  }

 private:
  void after_key(std::string& out, const Node& value, std::size_t indent, std::size_t used) const {
    if (fits_flow(value, used)) {
      out += fmt::format(" {}{}\n", to_flow(value), comment(value));
      return;
    }
    out += "\n";
    block(out, value, indent + 2);
  }

  /// Scalars, empty containers, and short ones that hold no maps of maps.
  bool fits_flow(const Node& node, std::size_t indent) const {
    if (!node.is_list() && !node.is_map()) return true;
    if (node.items.empty() && node.members.empty()) return true;
    if (node.is_list() && holds_containers(node)) return false;
    if (comments_ == Comments::in_column && !notes_agree(node)) return false;
    return to_flow(node).size() + indent <= kFlowWidth;
  }

  std::string comment(const Node& node) const {
    std::vector<std::string> notes;
    if (comments_ == Comments::in_column) collect_notes(node, notes);
    const auto text = notes.empty() ? notes_of(node) : notes.front();
    return text.empty() ? "" : std::string(1, kCommentMark) + "# " + text;
  }

  Comments comments_;
};

/// Marks become blanks; in a column, lines that are much longer than others stand out.
std::string place_comments(const std::string& text, Comments comments) {
  constexpr std::size_t longest = 48;
  std::size_t column = 0;
  const auto lines = split(text, '\n');
  for (const auto& line : lines) {
    const auto mark = line.find(kCommentMark);
    if (mark == std::string::npos) continue;
    const auto width = count_characters(std::string_view(line).substr(0, mark));
    if (width <= longest && comments == Comments::in_column) column = std::max(column, width + 2);
  }
  std::vector<std::string> placed;
  for (auto line : lines) {
    if (const auto mark = line.find(kCommentMark); mark != std::string::npos) {
      const auto width = count_characters(std::string_view(line).substr(0, mark));
      line.replace(mark, 1, std::string(std::max(column, width + 2) - width, ' '));
    }
    placed.push_back(std::move(line));
  }
  return join(placed, "\n");
}

}  // namespace

std::string to_yaml(const Node& tree, Comments comments) {
  const bool block =
      (tree.is_map() && !tree.members.empty()) || (tree.is_list() && !tree.items.empty());
  if (!block) return to_flow(tree) + "\n";
  std::string out;
  YamlWriter(comments).block(out, tree, 0);
  return place_comments(out, comments);
}

}  // namespace ddptrain
