// The layers of a network before its pooling, for a head of another kind (fastai's create_body).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/layers/chain.h"

namespace ddptrain {

/// `layers` [rows, channels, height, width] to [rows, features, h, w], named by their numbers;
/// `groups` are its layer groups; `names` says what beginnings of the network's names became.
struct Body {
  std::unique_ptr<Sequence> layers = std::make_unique<Sequence>();
  std::vector<std::vector<Module*>> groups;
  std::map<std::string, std::string> names;

  /// Appends what was the network's child `name`.
  void take(const std::string& name, std::unique_ptr<Module> child);
  /// Two groups: the first `first` of the modules, and the others.
  void divide(const std::vector<Module*>& modules, std::size_t first);
};

}  // namespace ddptrain
