// A component that a recipe names and that is not built yet.
#pragma once

#include <string>
#include <utility>

#include "config/kinds.h"
#include "config/node.h"

namespace ddptrain {

/// A map with `type` and that type's options as its siblings; a bare word stands for {type: word}.
/// Keeps the checked tree; the catalog turns it into options and an object (catalog.h).
class ChoiceBase {
 public:
  explicit ChoiceBase(std::string kind) : kind_(std::move(kind)) {}
  ChoiceBase(std::string kind, std::string type);

  const std::string& kind() const { return kind_; }
  std::string type() const;  // empty when nothing was chosen
  bool chosen() const { return node_.is_map(); }
  const Node& node() const { return node_; }
  /// Takes a map with `type`, or a word. The node must have passed check().
  void choose(Node node);

 private:
  std::string kind_;
  Node node_;
};

/// A choice among the components of interface T, which may be an incomplete type here.
template <class T>
class Choice : public ChoiceBase {
 public:
  Choice() : ChoiceBase(kind_name<T>) {}
  explicit Choice(std::string type) : ChoiceBase(kind_name<T>, std::move(type)) {}
};

}  // namespace ddptrain
