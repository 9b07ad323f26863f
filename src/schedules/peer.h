// Whose variant of a schedule is meant, where torch and fastai differ.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace ddptrain {

enum class Peer { torch, fastai };
inline std::span<const std::string_view> names(Peer) {
  static constexpr std::array<std::string_view, 2> words{"torch", "fastai"};
  return words;
}

}  // namespace ddptrain
