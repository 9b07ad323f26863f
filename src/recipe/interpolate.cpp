#include "recipe/interpolate.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/text.h"

namespace ddptrain {
namespace {

class Interpolation {
 public:
  Interpolation(Node& root, Problems& problems) : root_(root), problems_(problems) {}

  void visit(Node& node) {
    if (node.is_scalar()) node.text = replaced(node);
    for (auto& item : node.items) visit(item);
    for (auto& member : node.members) visit(member.value);
  }

 private:
  std::string replaced(const Node& node) {
    std::string out;
    const auto& text = node.text;
    for (std::size_t at = 0; at < text.size();) {
      if (text.compare(at, 3, "$${") == 0) {
        out += "${";
        at += 3;
        continue;
      }
      const auto close = text.compare(at, 2, "${") == 0 ? text.find('}', at) : std::string::npos;
      if (text.compare(at, 2, "${") != 0) {
        out += text[at++];
      } else if (close == std::string::npos) {
        complain(node, "'${' is not closed; write '$${' for the characters themselves");
        return text;
      } else {
        out += value_of(node, text.substr(at + 2, close - at - 2));
        at = close + 1;
      }
    }
    return out;
  }

  std::string value_of(const Node& node, const std::string& reference) {
    return reference.starts_with("env:") ? environment(node, reference.substr(4))
                                         : other_key(node, reference);
  }

  std::string environment(const Node& node, const std::string& reference) {
    const auto dash = reference.find(":-");
    const auto name = reference.substr(0, dash);
    if (const char* value = std::getenv(name.c_str())) return value;
    if (dash != std::string::npos) return reference.substr(dash + 2);
    complain(node, "the environment variable '" + name +
                       "' is not set; set it, or write '${env:" + name + ":-default}'");
    return {};
  }

  std::string other_key(const Node& node, const std::string& path) {
    const Node* target = &root_;
    for (const auto& part : split(path, '.'))
      target = target && target->is_map() ? target->find(part) : nullptr;
    if (!target || !target->is_scalar()) {
      complain(node, "'${" + path + "}' names no value of this recipe");
      return {};
    }
    if (std::find(under_way_.begin(), under_way_.end(), target) != under_way_.end()) {
      complain(node, "'${" + path + "}' refers to itself");
      return {};
    }
    under_way_.push_back(target);
    auto value = replaced(*target);
    under_way_.pop_back();
    return value;
  }

  void complain(const Node& node, const std::string& message) {
    problems_.push_back({Severity::error, "interpolation", node.place, "", message});
  }

  const Node& root_;
  Problems& problems_;
  std::vector<const Node*> under_way_;
};

}  // namespace

void interpolate(Node& tree, Problems& problems) { Interpolation(tree, problems).visit(tree); }

}  // namespace ddptrain
