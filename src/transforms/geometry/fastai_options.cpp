#include "transforms/geometry/fastai_options.h"

#include <array>

namespace ddptrain {

std::span<const std::string_view> names(FastaiPadMode) {
  static constexpr std::array<std::string_view, 3> words{"zeros", "border", "reflection"};
  return words;
}

PaddingMode padding_mode(FastaiPadMode mode) {
  switch (mode) {
    case FastaiPadMode::zeros:
      return PaddingMode::constant;
    case FastaiPadMode::border:
      return PaddingMode::edge;
    case FastaiPadMode::reflection:
      break;
  }
  return PaddingMode::reflect;
}

}  // namespace ddptrain
