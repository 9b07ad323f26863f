#include "recipe/layers/record.h"

#include <algorithm>

#include "config/encode.h"
#include "recipe/layers/references.h"

namespace ddptrain {
namespace {

/// Visits the values that stand at the same place in both trees.
template <class Visit>
void pairwise(Node& node, const Node& other, const Visit& visit) {
  visit(node, other);
  for (auto& member : node.members)
    if (const auto* value = other.find(member.key)) pairwise(member.value, *value, visit);
  for (std::size_t i = 0; i < std::min(node.items.size(), other.items.size()); ++i)
    pairwise(node.items[i], other.items[i], visit);
}

void note_automatic(Node& value, const Node& asked) {
  if (asked.is_scalar() && asked.text == "auto" && value.text != "auto") value.note = "auto";
}

void hide_secret(Node& value, const Node& written) {
  if (written.reference.empty() || !value.is_scalar()) return;
  value.text = written.reference;
  value.quoted = true;
}

// Shorter ones are also parts of other words.
constexpr std::size_t kTelling = 4;

/// What a shorthand or a list made of a secret stands at another place than in the tree.
void hide_values(Node& node, const std::map<std::string, std::string>& secrets) {
  const auto found = secrets.find(node.text);
  if (node.is_scalar() && node.text.size() >= kTelling && found != secrets.end()) {
    node.text = found->second;
    node.quoted = true;
  }
  for (auto& item : node.items) hide_values(item, secrets);
  for (auto& member : node.members) hide_values(member.value, secrets);
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

void hide_secrets(Node& tree) { pairwise(tree, Node(tree), hide_secret); }

void hide_secrets(Problems& problems, const Node& tree) {
  const auto secrets = secrets_of(tree);
  // The longest first: one may be part of another.
  std::vector<std::pair<std::string, std::string>> by_size(secrets.begin(), secrets.end());
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  for (auto& problem : problems)
    for (const auto& [text, reference] : by_size) {
      if (text.empty()) continue;
      replace_all(problem.message, "'" + text + "'", "'" + reference + "'");
      if (text.size() >= kTelling) replace_all(problem.message, text, reference);
    }
}

std::string record_of(Recipe& resolved, Recipe& asked, const Node& tree, const Catalogs& catalogs) {
  auto record = encode(resolved, &catalogs);
  pairwise(record, encode(asked, &catalogs), note_automatic);
  pairwise(record, tree, hide_secret);
  hide_values(record, secrets_of(tree));
  return to_yaml(record);
}

}  // namespace ddptrain
