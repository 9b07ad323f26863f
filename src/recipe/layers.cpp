#include "recipe/layers.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "config/reader.h"
#include "recipe/interpolate.h"
#include "recipe/merge.h"
#include "recipe/overrides.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

class Layers {
 public:
  explicit Layers(Layered& result) : result_(result) {}

  /// The file over its bases. `named_at` is where an `extends` names it.
  Node read_file(const std::string& file, const Place& named_at) {
    std::error_code unknown;
    const auto identity = fs::weakly_canonical(file, unknown).string();
    if (std::find(chain_.begin(), chain_.end(), identity) != chain_.end()) {
      complain("extends-cycle", named_at, "extends goes in a circle: " + chain_text(file));
      return Node::map();
    }
    chain_.push_back(identity);
    names_.push_back(file);
    auto tree = read_with_bases(file, named_at);
    names_.pop_back();
    chain_.pop_back();
    return tree;
  }

 private:
  Node read_with_bases(const std::string& file, const Place& named_at) {
    std::string text;
    try {
      text = read_text(file);
    } catch (const Error& error) {
      complain("file", named_at.known() ? named_at : Place{file, 0, 0, 1}, error.what());
      return Node::map();
    }
    auto read = read_yaml(text, file);
    result_.problems.insert(result_.problems.end(), read.problems.begin(), read.problems.end());
    if (!read.problems.empty()) read.tree = Node::map();
    Node below = Node::map();
    for (const auto& base : bases(read.tree))
      merge(below, read_file(beside(file, base.text), base.place));
    std::erase_if(read.tree.members, [](const Member& m) { return m.key == "extends"; });
    result_.sources.push_back({file, std::move(text)});
    merge(below, std::move(read.tree));
    return below;
  }

  std::vector<Node> bases(const Node& tree) {
    const auto* extends = tree.find("extends");
    if (!extends || extends->is_null()) return {};
    if (extends->is_scalar()) return {*extends};
    const auto is_text = [](const Node& item) { return item.is_scalar(); };
    if (extends->is_list() && std::all_of(extends->items.begin(), extends->items.end(), is_text))
      return extends->items;
    complain("bad-type", extends->place,
             "a list of recipe files was expected: extends: [base.yaml]", "extends");
    return {};
  }

  static std::string beside(const std::string& file, const std::string& base) {
    return fs::path(base).is_absolute()
               ? base
               : (fs::path(file).parent_path() / base).lexically_normal().string();
  }

  std::string chain_text(const std::string& again) const {
    return join(names_, " extends ") + " extends " + again;
  }

  void complain(const std::string& rule, const Place& place, const std::string& message,
                const std::string& path = {}) {
    result_.problems.push_back({Severity::error, rule, place, path, message});
  }

  Layered& result_;
  std::vector<std::string> chain_;  // canonical names of the files being read
  std::vector<std::string> names_;  // the same as written
};

}  // namespace

Layered read_layers(const std::vector<std::string>& files,
                    const std::vector<std::string>& overrides) {
  Layered result;
  result.tree = Node::map();
  Layers layers(result);
  for (const auto& file : files) merge(result.tree, layers.read_file(file, {}));
  for (std::size_t i = 0; i < overrides.size(); ++i)
    apply_override(result.tree, overrides[i], static_cast<int>(i) + 1, result.problems);
  std::erase_if(result.tree.members, [](const Member& m) { return m.key.starts_with("x-"); });
  interpolate(result.tree, result.problems);
  return result;
}

}  // namespace ddptrain
