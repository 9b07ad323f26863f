// Data that leave nothing to learn.
#pragma once

#include <string>

namespace ddptrain {

/// What to say of training data that have one class alone.
inline std::string one_class_text(const std::string& name) {
  return "the training data have one class alone, '" + name +
         "': there is nothing to tell apart; is data.root the folder that holds the classes?";
}

}  // namespace ddptrain
