// A color for each class of a mask.
#pragma once

#include <array>
#include <cstdint>

namespace ddptrain {

using MaskColor = std::array<std::uint8_t, 3>;  // red, green, blue

/// The colors of PASCAL VOC's masks: bits of the number, spread over the channels from their
/// highest bit down. 0 is black, 255 (void) a light yellow.
constexpr MaskColor mask_color(std::uint8_t number) {
  MaskColor color{};
  for (int bit = 7, rest = number; rest != 0; --bit, rest >>= 3)
    for (int channel = 0; channel < 3; ++channel)
      color[static_cast<std::size_t>(channel)] |=
          static_cast<std::uint8_t>((rest >> channel & 1) << bit);
  return color;
}

}  // namespace ddptrain
