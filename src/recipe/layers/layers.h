// Layers of a recipe, weakest first: `extends` in order, recipe files left to right, `key=value`
// left to right.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/node.h"
#include "config/problem.h"
#include "recipe/layers/merge.h"

namespace ddptrain {

struct Source {
  std::string file;  // as named
  std::string text;  // as written
  /// Where it is named: in another's `extends`, that file in a third's, and so on; empty for a file
  /// of the command line.
  std::vector<Place> extended_from = {};
};

/// One tree in which every value keeps the place of the layer that set it; `${env:...}` replaced,
/// paths not yet.
struct Layered {
  Node tree;
  Problems problems;
  bool whole = true;             // every file could be read, so that what the tree lacks is missing
  std::vector<Source> sources;   // every file read, bases behind what extends them
  std::vector<Dropped> dropped;  // in the order in which it happened; some may be set again
};

/// One step of layering: `layer` over `before` gave `after`. `layer` is a file by itself, or a file
/// with all that it extends, whose own steps were seen before; for an override it is null.
struct Merging {
  const Node& before;
  const Node* layer;
  const Node& after;
  bool by_itself;
  Place place;  // of an override
};
using Watch = std::function<void(const Merging&)>;

/// Reads files and overrides ("optimizer.lr=0.1", "~train.clip", "metrics+=[top_k]") and merges
/// them as merge() does; all overrides are one layer. `watch`, where given, sees each step.
Layered read_layers(const std::vector<std::string>& files,
                    const std::vector<std::string>& overrides, const Watch& watch = {});

/// Gives each problem its line, and how its file was reached.
void add_sources(Problems& problems, const std::vector<Source>& sources);

}  // namespace ddptrain
