// A component and the components inside it: the losses of a sum, what lookahead wraps, layers.
#pragma once

#include <string>
#include <vector>

#include "config/catalog.h"
#include "config/choice.h"

namespace ddptrain {

/// A component as a recipe or a default chooses it, and its path: "loss.losses[1]".
struct NestedChoice {
  ChoiceBase choice;
  std::string path;
};

/// `choice`, which stands at `path`, and every component among its options at any depth, in the
/// order of the options.
std::vector<NestedChoice> with_nested(const ChoiceBase& choice, const std::string& path,
                                      const Catalogs& catalogs);

/// Every component of a layered recipe, those that defaults choose included.
std::vector<NestedChoice> all_choices(const Node& tree, const Catalogs& catalogs);

/// A file or folder that a layered recipe names, and the path of its option.
struct WrittenPath {
  std::string text;  // as written
  std::string option;
  AddressUse address = AddressUse::none;  // whether it may be an address
};
std::vector<WrittenPath> all_paths(const Node& tree, const Catalogs& catalogs);

}  // namespace ddptrain
