#include "recipe/layers/literal_secrets.h"

#include "base/secrets.h"
#include "base/text.h"

namespace ddptrain {
namespace {

/// Of the last word of a key: "password", "api_token".
bool promises_secret(const std::string& key) {
  const auto last = lower(key.substr(key.find_last_of("_-. ") + 1));
  for (const auto* word : {"password", "passwd", "passphrase", "secret", "token", "credentials"})
    if (last == word) return true;
  return false;
}

/// Where a value stands.
struct Setting {
  std::string path;
  bool in_notes = false;
  bool promised = false;  // by its key
};

void collect(const Node& node, const Setting& at, Problems& problems) {
  const bool literal = node.is_scalar() && node.reference.empty() && !node.text.empty();
  const bool in_address = literal && without_passwords(node.text) != node.text;
  if (in_address || (literal && at.promised && node.text.find("${") == std::string::npos))
    problems.push_back({Severity::warning, "literal-secret", node.place, at.path,
                        std::string(in_address ? "the password of this address" : "this secret") +
                            " is readable in the recipe and in the run folder; write "
                            "'${env:NAME}' in its place, which both keep"});
  for (const auto& item : node.items) collect(item, at, problems);
  for (const auto& member : node.members) {
    const bool notes = at.in_notes || (at.path.empty() && member.key.starts_with("x-"));
    collect(member.value,
            {at.path.empty() ? member.key : at.path + "." + member.key, notes,
             notes && promises_secret(member.key)},
            problems);
  }
}

}  // namespace

Problems literal_secrets(const Node& tree) {
  Problems problems;
  collect(tree, {}, problems);
  return problems;
}

}  // namespace ddptrain
