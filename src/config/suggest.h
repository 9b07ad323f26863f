// What a user may have meant by a key, a component or a word that is not known.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "config/shape.h"

namespace ddptrain {

/// Edits between two names; case, '-', '_' and blanks do not count.
std::size_t name_distance(std::string_view a, std::string_view b);

/// Whether a user who means `name` may write something this far off: one edit in short names, one
/// in three characters of long ones, four at most.
bool is_near(std::string_view name, std::size_t distance);

/// The candidates nearest to what was written, at most three that are equally near.
std::vector<std::string> nearest_names(std::string_view written,
                                       const std::vector<std::string>& candidates);

/// A place where a recipe may have a key.
struct Home {
  std::string section;              // "optimizer"; "metrics[]" where the items of a list have it
  const Shape* shape = nullptr;     // of the value
  std::string kind;                 // of the component that owns the key, may be empty
  std::vector<std::string> owners;  // the components of that kind that have it
  bool optional = false;            // in a section that is not there unless written
  std::string path() const { return section.empty() ? shape->key : section + "." + shape->key; }
  bool in_list() const { return section.find("[]") != std::string::npos; }
};

/// Every key that a recipe may have, with the options of all components where they can be chosen.
class Homes {
 public:
  Homes(const Shape& root, const Catalogs& catalogs);
  ~Homes();
  Homes(const Homes&) = delete;
  Homes& operator=(const Homes&) = delete;

  /// Those whose key is at most `most` edits away from what was written, as distance and home.
  std::vector<std::pair<std::size_t, const Home*>> near(std::string_view written,
                                                        std::size_t most) const;

 private:
  struct Walk;
  std::map<std::string, std::vector<Home>> by_key_;
};

}  // namespace ddptrain
