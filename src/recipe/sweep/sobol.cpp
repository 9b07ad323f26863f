#include "recipe/sweep/sobol.h"

#include <array>
#include <bit>

#include "base/error.h"

namespace ddptrain {
namespace {

constexpr int kBits = 32;

/// A primitive polynomial over GF(2), its coefficients as bits, and the first direction numbers, as
/// many as its degree.
struct Direction {
  std::uint32_t polynomial;
  std::array<std::uint32_t, 8> first;
};

/// Of dimensions 1 and up; that of 0 is van der Corput's. From
/// https://web.maths.unsw.edu.au/~fkuo/sobol/
// clang-format off
constexpr std::array<Direction, kSobolDimensions - 1> kDirections{{
    {3, {1}},
    {7, {1, 3}},
    {11, {1, 3, 1}},
    {13, {1, 1, 1}},
    {19, {1, 1, 3, 3}},
    {25, {1, 3, 5, 13}},
    {37, {1, 1, 5, 5, 17}},
    {41, {1, 1, 5, 5, 5}},
    {47, {1, 1, 7, 11, 19}},
    {55, {1, 1, 5, 1, 1}},
    {59, {1, 1, 1, 3, 11}},
    {61, {1, 3, 5, 5, 31}},
    {67, {1, 3, 3, 9, 7, 49}},
    {91, {1, 1, 1, 15, 21, 21}},
    {97, {1, 3, 1, 13, 27, 49}},
    {103, {1, 1, 1, 15, 7, 5}},
    {109, {1, 3, 1, 15, 13, 25}},
    {115, {1, 1, 5, 5, 19, 61}},
    {131, {1, 3, 7, 11, 23, 15, 103}},
    {137, {1, 3, 7, 13, 13, 15, 69}},
    {143, {1, 1, 3, 13, 7, 35, 63}},
    {145, {1, 3, 5, 9, 1, 25, 53}},
    {157, {1, 3, 1, 13, 9, 35, 107}},
    {167, {1, 3, 1, 5, 27, 61, 31}},
    {171, {1, 1, 5, 11, 19, 41, 61}},
    {185, {1, 3, 5, 3, 3, 13, 69}},
    {191, {1, 1, 7, 13, 1, 19, 1}},
    {193, {1, 3, 7, 5, 13, 19, 59}},
    {203, {1, 1, 3, 9, 25, 29, 41}},
    {211, {1, 3, 5, 13, 23, 1, 55}},
    {213, {1, 3, 7, 3, 13, 59, 17}},
    {229, {1, 3, 1, 3, 5, 53, 69}},
    {239, {1, 1, 5, 5, 23, 33, 13}},
    {241, {1, 1, 7, 7, 1, 61, 123}},
    {247, {1, 1, 7, 9, 13, 61, 49}},
    {253, {1, 3, 3, 5, 3, 55, 33}},
    {285, {1, 3, 1, 15, 31, 13, 49, 245}},
    {299, {1, 3, 5, 15, 31, 59, 63, 97}},
    {301, {1, 3, 1, 11, 11, 11, 77, 249}},
    {333, {1, 3, 1, 11, 27, 43, 71, 9}},
    {351, {1, 1, 7, 15, 21, 11, 81, 45}},
    {355, {1, 3, 7, 3, 25, 31, 65, 79}},
    {357, {1, 3, 1, 1, 19, 11, 3, 205}},
    {361, {1, 1, 5, 9, 19, 21, 29, 157}},
    {369, {1, 3, 7, 11, 1, 33, 89, 185}},
    {391, {1, 3, 3, 3, 15, 9, 79, 71}},
    {397, {1, 3, 7, 11, 15, 39, 119, 27}},
    {425, {1, 1, 3, 1, 11, 31, 97, 225}},
    {451, {1, 1, 1, 3, 23, 43, 57, 177}},
}};
// clang-format on

/// v_i of a dimension as 32-bit fractions: m_i * 2^(32 - i).
std::array<std::uint32_t, kBits> directions(int dimension) {
  std::array<std::uint32_t, kBits> v{};
  for (int i = 0; i < kBits; ++i) v[i] = std::uint32_t{1} << (kBits - 1 - i);
  if (dimension == 0) return v;
  const auto& [polynomial, first] = kDirections.at(static_cast<std::size_t>(dimension - 1));
  const int degree = std::bit_width(polynomial) - 1;
  for (int i = 0; i < degree; ++i) v[i] *= first[i];
  for (int i = degree; i < kBits; ++i) {
    v[i] = v[i - degree] ^ (v[i - degree] >> degree);
    for (int k = 1; k < degree; ++k)
      if (polynomial >> (degree - k) & 1) v[i] ^= v[i - k];
  }
  return v;
}

}  // namespace

double sobol(std::uint32_t index, int dimension) {
  DDP_CHECK(dimension >= 0 && dimension < kSobolDimensions,
            "Sobol's sequence has no such dimension");
  const auto v = directions(dimension);
  std::uint32_t x = 0;
  std::size_t bit = 0;
  for (auto gray = index ^ (index >> 1); gray != 0; gray >>= 1, ++bit)
    if (gray & 1) x ^= v[bit];
  return static_cast<double>(x) / 4294967296.0;
}

}  // namespace ddptrain
