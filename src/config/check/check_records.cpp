// Problems of records: keys that are not known or missing, and options in conflict.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "config/check/check_words.h"
#include "config/check/checker.h"
#include "config/scalar.h"
#include "config/suggest.h"

namespace ddptrain {
namespace {

/// "lr: {value: 0.1}": the value that stands under an undeclared key, where it could be written
/// alone.
const Node* wrapped(const Node& node, const Shape& shape) {
  if (shape.shorthand.empty() || node.members.size() != 1) return nullptr;
  const auto& only = node.members[0];
  const auto known = [&](const Shape& child) {
    return child.key == only.key || is_near(child.key, name_distance(only.key, child.key));
  };
  const bool ours = std::any_of(shape.children.begin(), shape.children.end(), known);
  return ours || !only.value.is_scalar() ? nullptr : &only.value;
}

bool holds_word(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

void Checker::record(const Node& node, const Shape& shape, const std::string& path) {
  if (!node.is_map()) return shorthand(node, shape, path);
  if (const auto* meant = wrapped(node, shape)) return unwrap(node, shape, *meant, path);
  fields(node, shape, path, "");
}

void Checker::unwrap(const Node& node, const Shape& shape, const Node& meant,
                     const std::string& path) {
  std::vector<std::string> keys;
  std::string wanted = "a value";
  for (const auto& child : shape.children) {
    keys.push_back(child.key);
    if (child.key == shape.shorthand) wanted = expected(child);
  }
  const auto last = path.substr(path.rfind('.') + 1);
  bad(node, shape, path,
      fmt::format("'{}' is not an option here; {} was expected, '{}: {}', or a map of {}",
                  node.members[0].key, wanted, last, meant.text, join(keys, ", ")));
}

void Checker::shorthand(const Node& node, const Shape& shape, const std::string& path) {
  const auto& key =
      node.is_list() && !shape.list_shorthand.empty() ? shape.list_shorthand : shape.shorthand;
  if (key.empty() && node.is_list()) return mismatch(node, shape, path);
  if (key.empty() || node.is_null()) return not_a_map(node, shape, path);
  const auto before = problems_.size();
  for (const auto& child : shape.children)
    if (child.key == key) value(node, child, path);
  if (!advisor_ || problems_.size() > before) return;
  const auto map = Node::map({{key, node.place, node}}, node.place);
  for (const auto& constraint : shape.constraints)
    if (const auto found = conflict(constraint, map, shape))
      report("option-conflict", node.place, path, found->message);
}

void Checker::not_a_map(const Node& node, const Shape& shape, const std::string& path) {
  std::vector<std::string> keys;
  for (const auto& child : shape.children) keys.push_back(child.key);
  const bool tight = node.is_scalar() && lacks_space(node.text, keys);
  bad(node, shape, path,
      describe(node) + " is not a map of options" +
          (tight ? "; a space is missing after the ':'" : ""));
}

/// `owner` is the component whose options these are, empty in a plain section.
void Checker::fields(const Node& node, const Shape& shape, const std::string& path,
                     const std::string& owner) {
  std::vector<std::string> misspelled, faulty;
  for (const auto& member : node.members) {
    const auto before = problems_.size();
    const auto child = std::find_if(shape.children.begin(), shape.children.end(),
                                    [&](const Shape& field) { return field.key == member.key; });
    if (child != shape.children.end())
      value(member.value, *child, path_below(path, member.key));
    else if (member.key != "type" || shape.component.empty())
      misspelled.push_back(unknown_key(member, node, shape, path, owner));
    if (problems_.size() > before) faulty.push_back(member.key);
  }
  faulty.insert(faulty.end(), misspelled.begin(), misspelled.end());
  required(node, shape, path, misspelled);
  if (!holds_word(misspelled, "extends")) constraints(node, shape, path, faulty);
}

void Checker::required(const Node& node, const Shape& shape, const std::string& path,
                       const std::vector<std::string>& misspelled) {
  for (const auto& child : shape.children) {
    const bool reported = holds_word(misspelled, child.key) || holds_word(misspelled, "extends");
    if (child.required && !reported && !node.find(child.key))
      report("missing-key", node.place, path,
             fmt::format("'{}' is missing: {}", child.key, as_clause(child.doc)));
  }
}

/// Options against each other, but for those that have a problem of their own, or are missing.
void Checker::constraints(const Node& node, const Shape& shape, const std::string& path,
                          const std::vector<std::string>& faulty) {
  const auto unknown = [&](const Condition& condition) {
    const auto key = condition.key.substr(0, condition.key.find_first_of(".["));
    const auto required = [&](const Shape& child) { return child.required && child.key == key; };
    const bool needed = std::any_of(shape.children.begin(), shape.children.end(), required);
    return holds_word(faulty, key) || (needed && !node.find(key));
  };
  for (const auto& constraint : shape.constraints) {
    if (!advisor_ || std::any_of(constraint.of.begin(), constraint.of.end(), unknown)) continue;
    const auto found = conflict(constraint, node, shape);
    if (!found) continue;
    const auto* value = option_value(node, shape, found->key).value;
    const bool written = !found->key.empty();
    report("option-conflict", written ? value->place : node.place,
           written ? path_below(path, found->key) : path, found->message);
  }
}

/// The key that was meant, where it is one of this map.
std::string Checker::unknown_key(const Member& member, const Node& map, const Shape& shape,
                                 const std::string& path, const std::string& owner) {
  if (!advisor_) report("unknown-key", member.place, path, "");
  const UnknownKey key{member, map, shape, path, owner, shape.component};
  const auto advice = advisor_->advise(key);
  report(advice.rule, member.place, path, advice.message, advice.meant);
  const bool foreign = advice.rule == "foreign-key" || !advice.sure;
  if (foreign && member.value.is_map()) foreign_section(member, path_below(path, member.key));
  return advice.meant;
}

/// The keys of another tool's section: each that is recognized gets its place here.
void Checker::foreign_section(const Member& section, const std::string& path) {
  static const Shape none;
  for (const auto& member : section.value.members) {
    const UnknownKey key{member, section.value, none, path, none.key, none.key};
    const auto advice = advisor_->advise(key);
    if (advice.sure) report(advice.rule, member.place, path, advice.message);
  }
}

}  // namespace ddptrain
