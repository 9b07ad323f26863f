// Wrong variants of a good recipe, made so that it is known what is wrong with each and where.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "config/shape.h"

namespace ddptrain::test {

/// A recipe with one mistake. The place follows from the change that was made to the text. `meant`
/// are the names of which the message must hold one in quotes; none where nothing is suggested.
struct Mutant {
  std::string kind;
  std::string text;
  int line = 0;
  int column = 0;
  std::vector<std::string> meant;
};

/// A good recipe: its text, what it says by itself and what it says together with what it extends.
struct GoodRecipe {
  std::string name;
  std::string text;
  Node tree;
  Node layered;
};

/// A key of the recipe, or an item of a list (then `key` is empty).
struct Spot {
  std::string path;
  std::string key;
  std::size_t at = 0;  // of the key, in bytes
  const Node* value = nullptr;
  std::size_t value_at = 0;       // 0 when it has none on its line
  std::size_t value_size = 0;     // of a scalar
  const Shape* shape = nullptr;   // of the value; null where keys are free
  std::set<std::string> legal;    // keys that may stand here
  std::set<std::string> present;  // keys that do, in this file
  std::size_t map_at = 0;         // of the map around
  bool flow = false;
  bool first = false;       // of its map
  bool standalone = false;  // nothing else can supply the key
  std::string component;    // of the map around
};

/// Collects what is changed in a recipe.
class Surgery {
 public:
  Surgery(GoodRecipe recipe, const Shape& shape, const Catalogs& catalogs);

  const std::string& text() const { return recipe_.text; }
  const std::vector<Spot>& spots() const { return spots_; }
  const Shape& root() const { return root_; }

  /// Adds the text with a piece replaced; the mistake is at byte `at` of the new text.
  void replace(const std::string& kind, std::size_t from, std::size_t size, std::string_view with,
               std::size_t at, std::vector<std::string> meant = {});
  void insert(const std::string& kind, std::size_t from, std::string_view with, std::size_t at,
              std::vector<std::string> meant = {}) {
    replace(kind, from, 0, with, at, std::move(meant));
  }
  std::vector<Mutant> take() { return std::move(mutants_); }

  /// A draw below n, the same in every run.
  std::uint64_t draw(std::uint64_t n) { return stream_.below(n); }

  std::size_t line_start(std::size_t at) const;
  std::size_t line_end(std::size_t at) const;

 private:
  void walk(const Node& node, const Node* layered, const Shape* shape, const std::string& path);
  void members(const Node& node, const Node* layered, const Shape& fields, const std::string& path,
               const std::string& component);
  std::size_t byte(const Place& place) const;

  GoodRecipe recipe_;
  const Shape& root_;
  const Catalogs& catalogs_;
  std::vector<std::unique_ptr<Shape>> shapes_;
  std::vector<Spot> spots_;
  std::vector<Mutant> mutants_;
  Stream stream_;
};

void mutate_keys(Surgery& surgery);
void mutate_values(Surgery& surgery);
void mutate_syntax(Surgery& surgery);
void mutate_bytes(Surgery& surgery);

}  // namespace ddptrain::test
