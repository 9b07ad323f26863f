// Rounding and bounds without calls, for loops that are compiled for several instruction sets.
#pragma once

namespace ddptrain {

/// To the nearest whole number, halves to even, below 2^22: adding 1.5 x 2^23 leaves no bit for a
/// fraction.
[[gnu::always_inline]] inline float nearest_whole(float value) {
  constexpr float round = 12'582'912;
  return (value + round) - round;
}

[[gnu::always_inline]] inline float between(float least, float value, float most) {
  value = value < least ? least : value;
  return value > most ? most : value;
}

}  // namespace ddptrain
