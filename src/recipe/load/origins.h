// Where each value of a recipe came from.
#pragma once

#include <string>
#include <vector>

#include "recipe/load/load.h"

namespace ddptrain {

/// In a few words: "default", "recipes/adult.yaml:27", "override optimizer.lr=0.1". `overrides` are
/// those of the command line; files below the current folder are named from there.
std::string origin_of(const Place& place, const std::vector<std::string>& overrides);

/// Notes on every value where it came from, for to_yaml.
void note_origins(Node& tree, const std::vector<std::string>& overrides);

/// A loaded recipe with every default filled in. Written values keep their places, paths are
/// absolute, and what came from a secret of the environment stays a reference to it.
Node completed(const Loaded& loaded, const Catalogs& catalogs);

}  // namespace ddptrain
