#include "recipe/record.h"

#include <algorithm>

#include "config/encode.h"

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

}  // namespace

void hide_secrets(Node& tree) { pairwise(tree, Node(tree), hide_secret); }

std::string record_of(Recipe& resolved, Recipe& asked, const Node& tree, const Catalogs& catalogs) {
  auto record = encode(resolved, &catalogs);
  pairwise(record, encode(asked, &catalogs), note_automatic);
  pairwise(record, tree, hide_secret);
  return to_yaml(record);
}

}  // namespace ddptrain
