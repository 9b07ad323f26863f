#include "recipe/layers/record.h"

#include <algorithm>

#include "base/secrets.h"
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

}  // namespace

void hide_secrets(Node& tree) { pairwise(tree, Node(tree), hide_secret); }

void hide_secrets(Problems& problems, const Node& tree) {
  for (const auto& [text, reference] : secrets_of(tree)) keep_secret(text, reference);
  for (auto& problem : problems) problem.message = without_secrets(problem.message);
}

std::string record_of(Recipe& resolved, Recipe& asked, const Node& tree, const Catalogs& catalogs) {
  auto record = encode(resolved, &catalogs);
  pairwise(record, encode(asked, &catalogs), note_automatic);
  pairwise(record, tree, hide_secret);
  hide_values(record, secrets_of(tree));
  return to_yaml(record);
}

}  // namespace ddptrain
