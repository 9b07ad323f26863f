// A recipe fragment written as JSON, so that a test can build what a recipe would get:
//   catalog<Loss>().build(fragment<Loss>({{"type", "mse"}}), LossContext{});
#pragma once

#include "config/choice.h"
#include "support/json_node.h"

namespace ddptrain {

/// A choice of component, from a map with `type` or from a word.
template <class T>
Choice<T> fragment(const nlohmann::json& value) {
  Choice<T> choice;
  choice.choose(golden::to_node(value));
  return choice;
}

}  // namespace ddptrain
