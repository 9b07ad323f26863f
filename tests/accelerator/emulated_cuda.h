// What a kernel's text needs to be compiled as C++ of the host: the threads of a block run one
// after the other, or together where they wait for each other. Blocks run one after the other.
#pragma once

#include <c10/util/Half.h>

#include <barrier>
#include <bit>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#define __device__
#define __global__
#define __shared__ static
#define __launch_bounds__(...)

namespace emulated {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

inline float half_to_float(unsigned short bits) {
  return c10::detail::fp16_ieee_to_fp32_value(bits);
}
inline unsigned short float_to_half(float x) { return c10::detail::fp16_ieee_from_fp32_value(x); }

}  // namespace emulated

inline thread_local emulated::Index threadIdx;
inline emulated::Index blockIdx, blockDim, gridDim;

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

inline std::barrier<>* all_of_block = nullptr;

}  // namespace emulated

inline void __syncthreads() { emulated::all_of_block->arrive_and_wait(); }

/// All threads of a block call it; those of a warp exchange their numbers.
template <class Number>
Number __shfl_xor_sync(unsigned /*lanes*/, Number number, unsigned other) {
  static Number given[1024];
  given[threadIdx.x] = number;
  __syncthreads();
  const Number got = given[threadIdx.x ^ other];
  __syncthreads();
  return got;
}

namespace emulated {

/// Runs a kernel in `blocks` blocks of `threads`.
template <class Kernel, class... Arguments>
void launch(Kernel kernel, unsigned blocks, unsigned threads, const Arguments&... arguments) {
  gridDim.x = blocks;
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) kernel(arguments...);
}

/// The same of a kernel whose threads wait for each other, in a grid of two sides.
template <class Kernel, class... Arguments>
void launch_together(Kernel kernel, Index blocks, unsigned threads, const Arguments&... arguments) {
  gridDim = blocks;
  blockDim.x = threads;
  for (blockIdx.y = 0; blockIdx.y < blocks.y; ++blockIdx.y)
    for (blockIdx.x = 0; blockIdx.x < blocks.x; ++blockIdx.x) {
      std::barrier<> all(threads);
      all_of_block = &all;
      std::vector<std::jthread> block;
      for (unsigned i = 0; i < threads; ++i)
        block.emplace_back([&, i] {
          threadIdx.x = i;
          kernel(arguments...);
          all.arrive_and_drop();
        });
    }
  blockIdx.y = 0;
}

}  // namespace emulated
