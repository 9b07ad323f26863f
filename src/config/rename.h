// Keys that had other names once (Spec.was): recipes from then are understood, with a warning.
#pragma once

#include <string>
#include <vector>

#include "config/shape.h"

namespace ddptrain {

/// A key that was written by its former name, and its name now; `place` is the key's.
struct Renamed {
  Place place;
  std::string was;
  std::string now;
  std::string path;  // of the map that it stands in
};

/// Gives such keys of a tree their present names, at any depth. A component whose type the tree
/// does not say counts as each that has the former name. Both names of one option are an error, and
/// the former goes.
std::vector<Renamed> rename_keys(Node& tree, const Shape& shape, const Catalogs& catalogs,
                                 Problems& problems);

/// The warning for one: "'rate' is now 'lr'".
Problem renamed_warning(const Renamed& renamed);

/// The text with the present names in place of the former; everything else stays as it is.
std::string rename_in_text(std::string text, std::vector<Renamed> renamed);

}  // namespace ddptrain
