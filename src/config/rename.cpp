#include "config/rename.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace ddptrain {
namespace {

class Renaming {
 public:
  Renaming(const Catalogs& catalogs, Problems& problems)
      : catalogs_(catalogs), problems_(problems) {}

  void value(Node& node, const Shape& shape, const std::string& path) {
    if (node.is_list() && shape.kind == Shape::Kind::list) {
      for (std::size_t i = 0; i < node.items.size(); ++i)
        value(node.items[i], shape.children[0], fmt::format("{}[{}]", path, i));
    } else if (node.is_map() && shape.kind == Shape::Kind::table) {
      for (auto& member : node.members)
        value(member.value, shape.children[0], below(path, member.key));
    } else if (node.is_map() && shape.kind == Shape::Kind::component) {
      component(node, shape.component, path);
    } else if (node.is_map()) {
      fields(node, shape, path);
    }
  }

  std::vector<Renamed> found;

 private:
  static std::string below(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "." + key;
  }

  void component(Node& node, const std::string& kind, const std::string& path) {
    const auto catalog = catalogs_.find(kind);
    if (catalog == catalogs_.end()) return;
    const Node* type = node.find("type");
    if (!type) return fields(node, options_of_any(*catalog->second), path);
    if (const auto* entry = catalog->second->find(type->text)) fields(node, entry->shape(), path);
  }

  /// The options of a component that a weaker layer named; a key that some component has now is not
  /// one of another's past.
  static Shape options_of_any(const CatalogBase& catalog) {
    Shape all;
    for (std::size_t i = 0; i < catalog.size(); ++i)
      for (const auto& option : catalog.at(i).shape().children) all.children.push_back(option);
    for (auto& option : all.children)
      for (const auto& other : all.children)
        if (option.was == other.key) option.was.clear();
    return all;
  }

  void fields(Node& node, const Shape& shape, const std::string& path) {
    for (const auto& option : shape.children) {
      if (!option.was.empty()) rename(node, option, path);
      if (Node* written = node.find(option.key)) value(*written, option, below(path, option.key));
    }
  }

  void rename(Node& node, const Shape& option, const std::string& path) {
    const auto member =
        std::find_if(node.members.begin(), node.members.end(),
                     [&](const Member& written) { return written.key == option.was; });
    if (member == node.members.end()) return;
    if (!node.find(option.key)) {
      found.push_back({member->place, option.was, option.key, path});
      member->key = option.key;
      return;
    }
    problems_.push_back(
        {Severity::error, "renamed-key", member->place, path,
         fmt::format("'{}' is now '{}', which is given too; remove one", option.was, option.key)});
    node.members.erase(member);
  }

  const Catalogs& catalogs_;
  Problems& problems_;
};

/// Where a character of a line begins in the text, both counted from 1.
std::size_t offset_of(std::string_view text, const Place& place) {
  std::size_t at = 0;
  for (int line = 1; line < place.line; ++line) at = text.find('\n', at) + 1;
  if (at == 0 && text.starts_with("\xEF\xBB\xBF")) at = 3;
  const auto is_inside = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  for (int column = 1; column < place.column; ++column)
    for (++at; at < text.size() && is_inside(text[at]); ++at) {
    }
  return at;
}

}  // namespace

std::vector<Renamed> rename_keys(Node& tree, const Shape& shape, const Catalogs& catalogs,
                                 Problems& problems) {
  Renaming renaming(catalogs, problems);
  renaming.value(tree, shape, "");
  return std::move(renaming.found);
}

Problem renamed_warning(const Renamed& renamed) {
  Problem problem{Severity::warning, "renamed-key", renamed.place, renamed.path,
                  fmt::format("'{}' is now '{}'; 'ddptrain migrate FILE --write' writes that",
                              renamed.was, renamed.now)};
  problem.suggestion = renamed.now;
  return problem;
}

std::string rename_in_text(std::string text, std::vector<Renamed> renamed) {
  std::sort(renamed.begin(), renamed.end(), [](const Renamed& a, const Renamed& b) {
    return std::pair(a.place.line, a.place.column) > std::pair(b.place.line, b.place.column);
  });
  for (const auto& key : renamed) {
    auto at = offset_of(text, key.place);
    if (text[at] == '"' || text[at] == '\'') ++at;
    DDP_CHECK(text.compare(at, key.was.size(), key.was) == 0,
              fmt::format("the key '{}' is not where it was read", key.was));
    text.replace(at, key.was.size(), key.now);
  }
  return text;
}

}  // namespace ddptrain
