// One layer over another: a file, or a word of the command line. What is lost where a type changes.
#pragma once

#include <string>
#include <vector>

#include "config/catalog.h"
#include "config/node.h"
#include "config/problem.h"

namespace ddptrain {

/// An option that a weaker layer wrote and that a change of its component's type took away.
struct Dropped {
  std::string component;  // its address: "optimizer", "data.transforms.train[0]"
  std::string key;
  Node value;
  std::string before;  // the types
  std::string now;
  Place by;  // where the new type is written
};

/// Maps merge deeply, everything else replaces. A component's bare word is short for {type: word}.
///
/// A stronger map with another `type` drops the component's options, all but those that every type
/// of the section has (`model.weights`, `data.sampler`) and those of the same layer: the words of
/// the command line are one, whatever their order. `path` is the address of both ("data.sampler").
void merge(Node& weak, const Node& strong, const std::string& path, std::vector<Dropped>& dropped);

/// Whether a bare word at this address names a component.
bool names_component(const std::string& path);

/// Whether every type of the component at `path` has this option: it outlives a change of type.
bool is_of_section(const std::string& path, const std::string& key);

/// The same, for callers that do not need what was dropped.
void merge(Node& weak, const Node& strong);

/// A warning for each option that a layer wrote, that fell away with its component's type, and that
/// no stronger layer set again. `tree` is the layered recipe. Values that were the default of the
/// old type, and would be of the new one, are no loss.
Problems warn_of_dropped(const std::vector<Dropped>& dropped, const Node& tree,
                         const Catalogs& catalogs);

/// Applies "key=value", "key+=value" or "~key" to the tree. `place` is the word's. `dropped` is
/// what earlier words and layers dropped; to remove such an option settles it.
void apply_override(Node& tree, const std::string& text, const Place& place, Problems& problems,
                    std::vector<Dropped>& dropped);

}  // namespace ddptrain
