// What each layer of a recipe did to one key.
#pragma once

#include <string>
#include <vector>

#include "recipe/layers/address.h"
#include "recipe/layers/layers.h"

namespace ddptrain {

/// A layer set the key, or took it away: `value` is what it set, `reason` how it was lost.
struct Event {
  enum class Kind { set, lost };
  Kind kind = Kind::set;
  Place place;
  Node value;
  std::string reason;
};

/// Weakest layer first. A key within a list is followed by position or type, as the layers that
/// wrote the list had it.
std::vector<Event> history_of(const std::vector<Step>& address,
                              const std::vector<std::string>& files,
                              const std::vector<std::string>& overrides);

}  // namespace ddptrain
