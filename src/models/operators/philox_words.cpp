#include "models/operators/philox_words.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ddptrain {
namespace {

constexpr std::uint32_t kFirstFactor = 0xD2511F53, kSecondFactor = 0xCD9E8D57;
constexpr std::uint32_t kFirstBump = 0x9E3779B9, kSecondBump = 0xBB67AE85;

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

// base/random.h's rounds, unrolled and inlined: three times as fast.
void draw_one_by_one(std::uint32_t* to, std::uint32_t block, std::int64_t blocks,
                     const PhiloxRow& row) {
  for (; blocks > 0; --blocks, ++block, to += 4) {
    std::uint32_t c0 = block, c1 = row.row, c2 = row.step, c3 = 0;
    auto k0 = low(row.key), k1 = high(row.key);
#pragma GCC unroll 10
    for (int n = 0; n < 10; ++n, k0 += kFirstBump, k1 += kSecondBump) {
      const auto a = std::uint64_t{kFirstFactor} * c0, b = std::uint64_t{kSecondFactor} * c2;
      c0 = high(b) ^ c1 ^ k0;
      c2 = high(a) ^ c3 ^ k1;
      c1 = low(b);
      c3 = low(a);
    }
    to[0] = c0;
    to[1] = c1;
    to[2] = c2;
    to[3] = c3;
  }
}

#if defined(__x86_64__)

/// Counters of four blocks: words in the lower halves of 64-bit lanes, whose upper halves hold
/// anything. Products read lower halves only.
struct Four {
  __m256i c0, c1, c2, c3;
};

[[gnu::target("avx2"), gnu::always_inline]] inline Four four_from(std::uint32_t block,
                                                                  const PhiloxRow& row) {
  const auto first = static_cast<long long>(block);
  return {_mm256_add_epi32(_mm256_set1_epi64x(first), _mm256_set_epi64x(3, 2, 1, 0)),
          _mm256_set1_epi64x(row.row), _mm256_set1_epi64x(row.step), _mm256_setzero_si256()};
}

[[gnu::target("avx2"), gnu::always_inline]] inline void next_round(Four& f, __m256i k0,
                                                                   __m256i k1) {
  const auto a = _mm256_mul_epu32(f.c0, _mm256_set1_epi64x(kFirstFactor));
  const auto b = _mm256_mul_epu32(f.c2, _mm256_set1_epi64x(kSecondFactor));
  f.c0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(b, 32), f.c1), k0);
  f.c2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(a, 32), f.c3), k1);
  f.c1 = b;
  f.c3 = a;
}

// Block by block.
[[gnu::target("avx2"), gnu::always_inline]] inline void store(std::uint32_t* to, const Four& f) {
  const auto halves = _mm256_set1_epi64x(0xFFFFFFFF);
  const auto front = _mm256_or_si256(_mm256_and_si256(f.c0, halves), _mm256_slli_epi64(f.c1, 32));
  const auto back = _mm256_or_si256(_mm256_and_si256(f.c2, halves), _mm256_slli_epi64(f.c3, 32));
  const auto even = _mm256_unpacklo_epi64(front, back), odd = _mm256_unpackhi_epi64(front, back);
  auto* vectors = reinterpret_cast<__m256i*>(to);
  _mm256_storeu_si256(vectors, _mm256_permute2x128_si256(even, odd, 0x20));
  _mm256_storeu_si256(vectors + 1, _mm256_permute2x128_si256(even, odd, 0x31));
}

// Two fours at once hide the time that a product takes.
[[gnu::target("avx2")]] void draw_by_eights(std::uint32_t* to, std::uint32_t block,
                                            std::int64_t blocks, const PhiloxRow& row) {
  for (; blocks > 0; blocks -= 8, block += 8, to += 32) {
    auto a = four_from(block, row), b = four_from(block + 4, row);
    auto k0 = low(row.key), k1 = high(row.key);
    for (int n = 0; n < 10; ++n, k0 += kFirstBump, k1 += kSecondBump) {
      const auto keys0 = _mm256_set1_epi64x(k0), keys1 = _mm256_set1_epi64x(k1);
      next_round(a, keys0, keys1);
      next_round(b, keys0, keys1);
    }
    store(to, a);
    store(to + 16, b);
  }
}

std::int64_t drawn_by_eights(std::uint32_t* to, std::uint32_t block, std::int64_t blocks,
                             const PhiloxRow& row) {
  static const bool can = __builtin_cpu_supports("avx2") != 0;
  if (!can) return 0;
  const auto whole = blocks / 8 * 8;
  draw_by_eights(to, block, whole, row);
  return whole;
}

#else

std::int64_t drawn_by_eights(std::uint32_t*, std::uint32_t, std::int64_t, const PhiloxRow&) {
  return 0;
}

#endif

}  // namespace

void philox_words(std::uint32_t* to, std::int64_t first, std::int64_t blocks,
                  const PhiloxRow& row) {
  const auto block = static_cast<std::uint32_t>(first);
  const auto drawn = drawn_by_eights(to, block, blocks, row);
  draw_one_by_one(to + 4 * drawn, block + static_cast<std::uint32_t>(drawn), blocks - drawn, row);
}

}  // namespace ddptrain
