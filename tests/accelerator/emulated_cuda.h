// What a kernel's text needs to be compiled as C++ of the host: threads run one after the other.
#pragma once

#include <c10/util/Half.h>

#include <bit>
#include <cmath>
#include <cstdint>

#define __device__
#define __global__

namespace emulated {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

inline float half_to_float(unsigned short bits) {
  return c10::detail::fp16_ieee_to_fp32_value(bits);
}
inline unsigned short float_to_half(float x) { return c10::detail::fp16_ieee_from_fp32_value(x); }

}  // namespace emulated

inline emulated::Index threadIdx, blockIdx, blockDim, gridDim;

inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((std::uint64_t{a} * b) >> 32);
}
// Volatile, so that no compiler fuses them.
inline float __fmul_rn(float a, float b) {
  const volatile float product = a * b;
  return product;
}
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }

namespace emulated {

/// Runs a kernel in `blocks` blocks of `threads`.
template <class Kernel, class... Arguments>
void launch(Kernel kernel, unsigned blocks, unsigned threads, const Arguments&... arguments) {
  gridDim.x = blocks;
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) kernel(arguments...);
}

}  // namespace emulated
