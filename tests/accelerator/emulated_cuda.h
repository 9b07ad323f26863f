// What a kernel's text needs to be compiled as C++ of the host: the threads of a block run one
// after the other; where they wait for each other, each runs as far as the next wait, as a context
// of ucontext.h (threads of the system that wait at a barrier take 20 times as long). Blocks run
// one after the other.
#pragma once

#include <c10/util/Half.h>
#include <ucontext.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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

struct Thread {
  ucontext_t context{};
  bool ended = false;
};
inline ucontext_t scheduler;
inline Thread* running = nullptr;
inline const std::function<void()>* body = nullptr;

inline void run_body() {
  (*body)();
  running->ended = true;
}

/// Runs `of_each` on each thread of a block, all as far as their next wait, and again.
inline void run_block(unsigned threads, const std::function<void()>& of_each) {
  constexpr std::size_t kStack = 256 << 10;
  static std::vector<std::unique_ptr<char[]>> stacks;
  while (stacks.size() < threads) stacks.emplace_back(new char[kStack]);
  body = &of_each;
  std::vector<Thread> all(threads);
  for (unsigned i = 0; i < threads; ++i) {
    ::getcontext(&all[i].context);
    all[i].context.uc_stack = {stacks[i].get(), 0, kStack};
    all[i].context.uc_link = &scheduler;
    ::makecontext(&all[i].context, run_body, 0);
  }
  for (bool some = true; some;) {
    some = false;
    for (unsigned i = 0; i < threads; ++i) {
      if (all[i].ended) continue;
      threadIdx.x = i;
      running = &all[i];
      ::swapcontext(&scheduler, &running->context);
      some = some || !all[i].ended;
    }
  }
}

}  // namespace emulated

inline void __syncthreads() { ::swapcontext(&emulated::running->context, &emulated::scheduler); }

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
    for (blockIdx.x = 0; blockIdx.x < blocks.x; ++blockIdx.x)
      run_block(threads, [&] { kernel(arguments...); });
  blockIdx.y = 0;
}

}  // namespace emulated
