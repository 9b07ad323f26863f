// A tensor's shape for messages: "[64, 3, 7, 7]".
#pragma once

#include <ATen/core/Tensor.h>

#include <sstream>
#include <string>

namespace ddptrain {

inline std::string shape_text(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

}  // namespace ddptrain
