#include "config/suggest.h"

#include <algorithm>

namespace ddptrain {
namespace {

constexpr std::size_t kMostSuggested = 3;
constexpr std::size_t kLongestName = 64;

std::string plain(std::string_view name) {
  std::string kept;
  for (const char c : lower(name.substr(0, kLongestName)))
    if (c != '_' && c != '-' && c != ' ') kept += c;
  return kept;
}

}  // namespace

std::size_t name_distance(std::string_view a, std::string_view b) {
  if (a.size() > kLongestName || b.size() > kLongestName) return kLongestName;
  return edit_distance(plain(a), plain(b));
}

bool is_near(std::string_view name, std::size_t distance) {
  const auto size = plain(name).size();
  if (distance == 1) return size > 1;
  return distance == 0 || distance <= std::min<std::size_t>(size / 3, 4);
}

std::vector<std::string> nearest_names(std::string_view written,
                                       const std::vector<std::string>& candidates) {
  std::size_t best = kLongestName;
  std::vector<std::string> names;
  for (const auto& candidate : candidates) {
    const auto distance = name_distance(written, candidate);
    if (distance > best || !is_near(candidate, distance)) continue;
    if (distance < best) names.clear();
    best = distance;
    if (names.size() < kMostSuggested) names.push_back(candidate);
  }
  return names;
}

/// Collects the homes of a shape and of what stands below it.
struct Homes::Walk {
  const Catalogs& catalogs;
  Homes& homes;
  std::vector<std::string> kinds = {};  // of the components around, so that none recurs
  std::string owner = {};
  int optional = 0;  // sections around that are not there unless written

  void value(const Shape& shape, const std::string& path) {
    const bool absent = shape.nullable && shape.initial.is_null();
    optional += absent;
    inside(shape, path);
    optional -= absent;
  }

  void inside(const Shape& shape, const std::string& path) {
    if (shape.kind == Shape::Kind::record) return record(shape, path);
    if (shape.kind == Shape::Kind::list) return value(shape.children[0], path + "[]");
    if (shape.kind == Shape::Kind::component) return component(shape.component, path);
  }

  void record(const Shape& shape, const std::string& path) {
    for (const auto& child : shape.children) {
      add(child, path);
      value(child, path.empty() ? child.key : path + "." + child.key);
    }
  }

  void add(const Shape& child, const std::string& section) {
    const auto kind = kinds.empty() ? "" : kinds.back();
    auto& homes_of_key = homes.by_key_[child.key];
    auto found = std::find_if(homes_of_key.begin(), homes_of_key.end(), [&](const Home& home) {
      return home.section == section && home.kind == kind;
    });
    if (found == homes_of_key.end())
      found = homes_of_key.insert(found, {section, &child, kind, {}, optional > 0});
    const bool listed = !found->owners.empty() && found->owners.back() == owner;
    if (!owner.empty() && !listed) found->owners.push_back(owner);
  }

  void component(const std::string& kind, const std::string& path) {
    const auto catalog = catalogs.find(kind);
    const bool again = std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    if (catalog == catalogs.end() || again) return;
    const auto outer = owner;
    kinds.push_back(kind);
    for (std::size_t i = 0; i < catalog->second->size(); ++i) {
      const auto& entry = catalog->second->at(i);
      owner = entry.name;
      record(entry.shape(), path);
    }
    kinds.pop_back();
    owner = outer;
  }
};

Homes::Homes(const Shape& root, const Catalogs& catalogs) { Walk{catalogs, *this}.value(root, ""); }
Homes::~Homes() = default;

std::vector<std::pair<std::size_t, const Home*>> Homes::near(std::string_view written,
                                                             std::size_t most) const {
  std::vector<std::pair<std::size_t, const Home*>> found;
  for (const auto& [key, homes] : by_key_) {
    const auto longer = std::max(key.size(), written.size());
    if (longer - std::min(key.size(), written.size()) > most + 2) continue;
    const auto distance = name_distance(written, key);
    if (distance > most) continue;
    for (const auto& home : homes) found.emplace_back(distance, &home);
  }
  return found;
}

}  // namespace ddptrain
