#include "base/random.h"

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace ddptrain {
namespace {

using Counter = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

Counter philox_round(const Counter& c, const Key& k) {
  const std::uint64_t first = std::uint64_t{0xD2511F53} * c[0];
  const std::uint64_t second = std::uint64_t{0xCD9E8D57} * c[2];
  return {static_cast<std::uint32_t>(second >> 32) ^ c[1] ^ k[0],
          static_cast<std::uint32_t>(second), static_cast<std::uint32_t>(first >> 32) ^ c[3] ^ k[1],
          static_cast<std::uint32_t>(first)};
}

}  // namespace

Counter philox(Counter counter, Key key) {
  for (int round = 0; round < 10; ++round) {
    if (round > 0) {
      key[0] += 0x9E3779B9;
      key[1] += 0xBB67AE85;
    }
    counter = philox_round(counter, key);
  }
  return counter;
}

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a + 0x9E3779B97F4A7C15 * (b + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

Stream::Stream(std::uint64_t key, std::uint64_t a, std::uint64_t b)
    : counter_{0, 0, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32)} {
  const auto mixed = mix(key, b);
  key_ = {static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32)};
}

std::uint32_t Stream::word() {
  if (used_ == 4) {
    words_ = philox(counter_, key_);
    if (++counter_[0] == 0) ++counter_[1];
    used_ = 0;
  }
  return words_[static_cast<std::size_t>(used_++)];
}

std::uint64_t Stream::word64() {
  const std::uint64_t low = word();
  return low | (std::uint64_t{word()} << 32);
}

double Stream::uniform() { return static_cast<double>(word64() >> 11) * 0x1p-53; }

double Stream::uniform(double low, double high) { return low + (high - low) * uniform(); }

std::uint64_t Stream::below(std::uint64_t n) {
  // Words above the largest multiple of n would favor small results: draw again.
  const std::uint64_t rest = (UINT64_MAX % n + 1) % n;
  const std::uint64_t last = UINT64_MAX - rest;
  for (;;) {
    const auto drawn = word64();
    if (drawn <= last) return drawn % n;
  }
}

double Stream::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

std::vector<std::int64_t> random_order(std::int64_t n, std::int64_t count, Stream& random) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  const auto drawn = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < drawn && i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + random.below(order.size() - i)]);
  order.resize(drawn);
  return order;
}

}  // namespace ddptrain
