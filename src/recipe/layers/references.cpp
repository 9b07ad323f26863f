#include "recipe/layers/references.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <vector>

#include "base/text.h"
#include "config/scalar.h"
#include "recipe/layers/address.h"

namespace ddptrain {
namespace {

// Limits on recipes whose references multiply.
constexpr std::size_t most_under_way = 20;
constexpr std::size_t kMostCharacters = 1 << 20;

struct BadReference {
  std::string message;
};

/// The NAME of env:NAME or env:NAME:-default.
std::string name_of(const std::string& inside) {
  const auto rest = inside.substr(4);
  return rest.substr(0, rest.find(":-"));
}

/// ${env:NAME} or ${env:NAME:-default} without the dollar and braces.
std::string environment_value(const std::string& inside) {
  const auto rest = inside.substr(4);
  const auto dash = rest.find(":-");
  const auto name = name_of(inside);
  const char* value = std::getenv(name.c_str());
  if (value && (*value != '\0' || dash == std::string::npos)) return value;
  if (dash != std::string::npos) return rest.substr(dash + 2);
  throw BadReference{fmt::format(
      "the environment has no '{}'; set it, or write '${{env:{}:-default}}'", name, name)};
}

/// Whether a name of the environment marks its value as a secret. "pass" is also in
/// "password", "passwd" and "passphrase", "cred" in "credentials".
bool names_secret(const std::string& name) {
  const auto plain = lower(name);
  for (const auto* word : {"pass", "secret", "token", "key", "cred"})
    if (plain.find(word) != std::string::npos) return true;
  return false;
}

/// An address may hold anything: user, password, signature.
bool keeps_references(const std::string& path) { return path == "data.source.url"; }

/// Replaces each ${...} by what `value_of` says of its inside.
std::string replace(const std::string& text,
                    const std::function<std::string(const std::string&)>& value_of) {
  std::string result;
  std::size_t at = 0;
  for (;;) {
    const auto open = text.find("${", at);
    result += text.substr(at, open - at);
    if (open == std::string::npos) return result;
    const auto close = text.find('}', open);
    if (close == std::string::npos) throw BadReference{"'${' is not closed by '}'"};
    result += value_of(text.substr(open + 2, close - open - 2));
    at = close + 1;
  }
}

/// "a.b" when the whole text is ${a.b}.
std::optional<std::string> whole_key(const std::string& text) {
  const bool whole = text.starts_with("${") && text.find('}') == text.size() - 1;
  if (!whole || text.starts_with("${env:")) return {};
  return text.substr(2, text.size() - 3);
}

/// Walks the tree; a key that is referred to is resolved first.
class References {
 public:
  References(Node& root, Problems& problems) : root_(root), problems_(problems) {}

  void walk(Node& node, const std::string& path) {
    if (node.is_scalar() && node.text.find("${") != std::string::npos) scalar(node, path);
    for (std::size_t i = 0; i < node.items.size(); ++i)
      walk(node.items[i], fmt::format("{}[{}]", path, i));
    for (auto& member : node.members)
      walk(member.value, path.empty() ? member.key : path + "." + member.key);
  }

 private:
  void scalar(Node& node, const std::string& path) try {
    const Place place = node.place;
    if (const auto key = whole_key(node.text)) {
      Node value = resolve(*key);
      value.place = place;
      node = std::move(value);
      return;
    }
    const auto written = node.text;
    bool secret = keeps_references(path);
    node.text =
        replace(node.text, [&](const std::string& inside) { return text_of(inside, secret); });
    if (secret) node.reference = written;
    if (!node.quoted && is_null_text(node.text)) node.quoted = true;
  } catch (const BadReference& bad) {
    problems_.push_back({Severity::error, "reference", node.place, path, bad.message});
  }

  /// `secret` becomes true where the text is one.
  std::string text_of(const std::string& inside, bool& secret) {
    if (inside.starts_with("env:")) {
      secret = secret || names_secret(name_of(inside));
      auto value = environment_value(inside);
      charge(value.size());
      return value;
    }
    const auto value = resolve(inside);
    if (!value.is_scalar()) throw BadReference{"'${" + inside + "}' is not a single value"};
    secret = secret || !value.reference.empty();
    return value.text;
  }

  /// The value of another key, its own references replaced.
  Node resolve(const std::string& key) {
    const auto address = read_address(key);
    const Node* found = address ? find_at(root_, *address) : nullptr;
    if (!found) throw BadReference{"'${" + key + "}' names no key that this recipe sets"};
    if (std::find(under_way_.begin(), under_way_.end(), key) != under_way_.end())
      throw BadReference{fmt::format("'${{{}}}' refers to itself", key)};
    if (under_way_.size() == most_under_way)
      throw BadReference{fmt::format("'{}' stands behind {} other references",
                                     fmt::format("${{{}}}", key), most_under_way)};
    charge(*found);
    under_way_.push_back(key);
    Node value = *found;
    const auto before = problems_.size();
    walk(value, key);
    under_way_.pop_back();
    if (problems_.size() > before) {
      const auto message = problems_.back().message;
      problems_.resize(before);
      throw BadReference{message};
    }
    return value;
  }

  /// Counts a copy that is about to be made.
  void charge(const Node& copy) {
    charge(copy.text.size() + 1);
    for (const auto& item : copy.items) charge(item);
    for (const auto& member : copy.members) {
      charge(member.key.size());
      charge(member.value);
    }
  }
  void charge(std::size_t characters) {
    characters_ += characters;
    if (characters_ > kMostCharacters)
      throw BadReference{"the references of this recipe multiply to more than " +
                         format_bytes(kMostCharacters)};
  }

  Node& root_;
  Problems& problems_;
  std::vector<std::string> under_way_;
  std::size_t characters_ = 0;  // copied so far
};

}  // namespace

std::map<std::string, std::string> secrets_of(const Node& tree) {
  std::map<std::string, std::string> secrets;
  if (!tree.reference.empty() && tree.is_scalar()) {
    secrets.emplace(tree.text, tree.reference);
    replace(tree.reference, [&](const std::string& inside) {
      const bool environment = inside.starts_with("env:");
      const char* value = environment ? std::getenv(name_of(inside).c_str()) : nullptr;
      if (value) secrets.emplace(value, fmt::format("${{env:{}}}", name_of(inside)));
      return std::string();
    });
  }
  for (const auto& item : tree.items) secrets.merge(secrets_of(item));
  for (const auto& member : tree.members) secrets.merge(secrets_of(member.value));
  return secrets;
}

void replace_references(Node& tree, Problems& problems) {
  References(tree, problems).walk(tree, "");
}

std::string replace_environment(const std::string& text, const Place& place, Problems& problems) {
  try {
    return replace(text, [](const std::string& inside) {
      if (inside.starts_with("env:")) return environment_value(inside);
      throw BadReference{"only '${env:NAME}' can stand here"};
    });
  } catch (const BadReference& bad) {
    problems.push_back({Severity::error, "reference", place, "", bad.message});
    return text;
  }
}

}  // namespace ddptrain
