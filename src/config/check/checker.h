// The check of a tree against a shape: one class, its parts in check*.cpp by what they look at.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/check/unknown_key.h"
#include "config/shape.h"

namespace ddptrain {

/// Ends a check that has reported enough.
struct Enough {};

/// Collects every problem of a tree.
class Checker {
 public:
  /// Without an advisor the messages are unused: the first problem throws Enough, and what other
  /// layers or options may supply is not asked for.
  Checker(const Catalogs& catalogs, Problems& problems, KeyAdvisor* advisor)
      : catalogs_(catalogs), problems_(problems), advisor_(advisor) {}

  void value(const Node& node, const Shape& shape, const std::string& path);

 private:
  // check.cpp
  void report(const std::string& rule, const Place& place, const std::string& path,
              const std::string& message, const std::string& suggestion = {});
  void bad(const Node& node, const Shape& shape, const std::string& path,
           const std::string& message, const std::string& suggestion = {});
  void mismatch(const Node& node, const Shape& shape, const std::string& path);
  void list(const Node& node, const Shape& shape, const std::string& path);
  void items(const Node& node, const Shape& shape, const std::string& path);
  void table(const Node& node, const Shape& shape, const std::string& path);

  // check_values.cpp
  void scalar(const Node& node, const Shape& shape, const std::string& path);
  void text(const Node& node, const Shape& shape, const std::string& path);
  void duration(const Node& node, const Shape& shape, const std::string& path);
  template <class T>
  void number(const Node& node, const Shape& shape, const std::string& path,
              const std::optional<T>& value, const std::string& why);
  void word(const Node& node, const Shape& shape, const std::string& path);

  // check_records.cpp
  void record(const Node& node, const Shape& shape, const std::string& path);
  void unwrap(const Node& node, const Shape& shape, const Node& meant, const std::string& path);
  void shorthand(const Node& node, const Shape& shape, const std::string& path);
  void not_a_map(const Node& node, const Shape& shape, const std::string& path);
  void fields(const Node& node, const Shape& shape, const std::string& path,
              const std::string& owner);
  void required(const Node& node, const Shape& shape, const std::string& path,
                const std::vector<std::string>& misspelled);
  void constraints(const Node& node, const Shape& shape, const std::string& path,
                   const std::vector<std::string>& faulty);
  std::string unknown_key(const Member& member, const Node& map, const Shape& shape,
                          const std::string& path, const std::string& owner);
  void foreign_section(const Member& section, const std::string& path);

  // check_components.cpp
  void component(const Node& node, const Shape& shape, const std::string& path);
  void missing_type(const Node& node, const Shape& shape, const std::string& path,
                    const CatalogBase& catalog);
  void unknown_component(const Node& type, const Shape& shape, const std::string& path,
                         const CatalogBase& catalog);
  std::pair<std::string, std::string> of_other_kind(const std::string& name,
                                                    const std::string& than) const;

  const Catalogs& catalogs_;
  Problems& problems_;
  KeyAdvisor* advisor_;  // none: the messages are unused
};

/// The path of a key of the map at `path`, which is empty at the top of a recipe.
std::string path_below(const std::string& path, const std::string& key);

/// Whether a value could be of a shape, for guesses at what was meant.
bool fits(const Node& value, const Shape& shape, const Catalogs& catalogs);

}  // namespace ddptrain
