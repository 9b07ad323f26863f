// The one generator behind every draw: counter-based Philox 4x32-10 (Salmon et al., SC 2011), so
// that a draw is a function of what it is for and never of how many were made before it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ddptrain {

/// Four random words for one counter and one key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

/// A 64-bit hash of text, the same on every machine (FNV-1a): turns a module path or a purpose into
/// a key.
std::uint64_t hash_text(std::string_view text);

/// Mixes two words into one (splitmix64 finalizer).
std::uint64_t mix(std::uint64_t a, std::uint64_t b);

/// A stream of draws with its own start for each (key, a, b): key is a seed mixed with a purpose, a
/// and b say what is drawn for, for example epoch and position.
class Stream {
 public:
  Stream(std::uint64_t key, std::uint64_t a, std::uint64_t b = 0);
  std::uint32_t word();                     // uniform on 32 bits
  std::uint64_t word64();                   // uniform on 64 bits
  double uniform();                         // [0, 1), 53 bits
  double uniform(double low, double high);  // [low, high)
  std::uint64_t below(std::uint64_t n);     // 0 .. n-1, unbiased; n > 0
  double normal();                          // mean 0, deviation 1 (Box-Muller)

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> words_{};
  int used_ = 4;
};

/// The first `count` of a random permutation of 0 .. n-1, all equally likely (Fisher-Yates).
std::vector<std::int64_t> random_order(std::int64_t n, std::int64_t count, Stream& random);

}  // namespace ddptrain
