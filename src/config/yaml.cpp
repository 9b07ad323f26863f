#include <algorithm>

#include "base/text.h"
#include "config/encode.h"
#include "config/scalar.h"

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

std::string flow(const Node& node) {
  if (node.is_null()) return "null";
  if (node.is_scalar()) return scalar_text(node.text, node.quoted);
  std::vector<std::string> parts;
  for (const auto& item : node.items) parts.push_back(flow(item));
  for (const auto& member : node.members)
    parts.push_back(scalar_text(member.key, true) + ": " + flow(member.value));
  return (node.is_list() ? "[" : "{") + join(parts, ", ") + (node.is_list() ? "]" : "}");
}

bool holds_containers(const Node& node) {
  const auto container = [](const Node& n) { return n.is_list() || n.is_map(); };
  return std::any_of(node.items.begin(), node.items.end(), container) ||
         std::any_of(node.members.begin(), node.members.end(),
                     [&](const Member& m) { return container(m.value); });
}

/// Scalars, empty containers, and short ones that hold no maps of maps.
bool fits_flow(const Node& node, std::size_t indent) {
  if (!node.is_list() && !node.is_map()) return true;
  if (node.items.empty() && node.members.empty()) return true;
  if (node.is_list() && holds_containers(node)) return false;
  return flow(node).size() + indent <= kFlowWidth;
}

/// What is noted on a value and the values in it: "auto", or "micro: auto, accumulate: auto".
std::string notes(const Node& node) {
  std::vector<std::string> parts;
  if (!node.note.empty()) parts.push_back(node.note);
  for (const auto& item : node.items)
    if (auto inner = notes(item); !inner.empty()) parts.push_back(std::move(inner));
  for (const auto& member : node.members)
    if (auto inner = notes(member.value); !inner.empty())
      parts.push_back(member.key + ": " + std::move(inner));
  return join(parts, ", ");
}

std::string comment(const Node& node) {
  const auto text = notes(node);
  return text.empty() ? "" : "  # " + text;
}

void write(std::string& out, const Node& node, std::size_t indent);

void write_after(std::string& out, const Node& value, std::size_t indent, std::size_t used) {
  if (fits_flow(value, used)) {
    out += " " + flow(value) + comment(value) + "\n";
    return;
  }
  out += "\n";
  write(out, value, indent + 2);
}

void write(std::string& out, const Node& node, std::size_t indent) {
  const std::string margin(indent, ' ');
  for (const auto& member : node.members) {
    const auto key = scalar_text(member.key, true);
    out += margin + key + ":";
    write_after(out, member.value, indent, indent + key.size() + 2);
  }
  for (const auto& item : node.items) {
    if (fits_flow(item, indent + 2)) {
      out += margin + "- " + flow(item) + comment(item) + "\n";
      continue;
    }
    std::string block;
    write(block, item, indent + 2);
    out += margin + "- " + block.substr(indent + 2);
  }
}

}  // namespace

std::string to_yaml(const Node& tree) {
  const bool block =
      (tree.is_map() && !tree.members.empty()) || (tree.is_list() && !tree.items.empty());
  if (!block) return flow(tree) + "\n";
  std::string out;
  write(out, tree, 0);
  return out;
}

}  // namespace ddptrain
