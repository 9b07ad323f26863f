// Letters of 5 x 7 pixels, for labels on contact sheets.
#pragma once

#include <array>
#include <cstdint>

namespace ddptrain {

inline constexpr int kGlyphWidth = 5;
inline constexpr int kGlyphHeight = 7;

/// Columns from left to right, the topmost pixel in the lowest bit; '?' stands for what is not
/// ASCII.
const std::array<std::uint8_t, kGlyphWidth>& glyph(char letter);

}  // namespace ddptrain
