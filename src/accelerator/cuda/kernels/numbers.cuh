// Number types and threads of our kernels. Compiled by NVRTC on the machine that runs them, and by
// the host's compiler in tests, which emulate threads and intrinsics; includes nothing else.
#pragma once

#ifdef __CUDACC__
#define UNROLL _Pragma("unroll")
#else
#include "accelerator/emulated_cuda.h"
#define UNROLL
#endif

typedef unsigned long long Word64;

// Kernels of each type, or of the one that the compiler was asked for (ONLY_float and so on).
#if !defined(ONLY_ONE) || defined(ONLY_float)
#define WITH_FLOAT(kernel) kernel
#else
#define WITH_FLOAT(kernel)
#endif
#if !defined(ONLY_ONE) || defined(ONLY_double)
#define WITH_DOUBLE(kernel) kernel
#else
#define WITH_DOUBLE(kernel)
#endif
#if !defined(ONLY_ONE) || defined(ONLY_bfloat16)
#define WITH_BFLOAT16(kernel) kernel
#else
#define WITH_BFLOAT16(kernel)
#endif
#if !defined(ONLY_ONE) || defined(ONLY_half)
#define WITH_HALF(kernel) kernel
#else
#define WITH_HALF(kernel)
#endif

struct BFloat16 {
  unsigned short bits;
};
struct Half {
  unsigned short bits;
};

// What a type is computed in.
template <class T>
struct WideOf {
  typedef float type;
};
template <>
struct WideOf<double> {
  typedef double type;
};

__device__ inline float widen(float x) { return x; }
__device__ inline double widen(double x) { return x; }
__device__ inline float widen(BFloat16 x) { return __uint_as_float((unsigned)x.bits << 16); }
#ifdef __CUDACC__
__device__ inline float widen(Half x) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
  return wide;
}
#else
inline float widen(Half x) { return emulated::half_to_float(x.bits); }
#endif

__device__ inline float square_root(float x) { return sqrtf(x); }
__device__ inline double square_root(double x) { return sqrt(x); }

// Rounded to nearest, ties to even.
__device__ inline void narrow(float x, float& to) { to = x; }
__device__ inline void narrow(float x, double& to) { to = x; }
__device__ inline void narrow(double x, double& to) { to = x; }
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
__device__ inline void narrow(float x, BFloat16& to) {
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to.bits) : "f"(x));
}
#else
__device__ inline void narrow(float x, BFloat16& to) {
  const unsigned bits = __float_as_uint(x);
  to.bits = x != x ? 0x7FC0 : (unsigned short)((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}
#endif
#ifdef __CUDACC__
__device__ inline void narrow(float x, Half& to) {
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(x));
}
#else
inline void narrow(float x, Half& to) { to.bits = emulated::float_to_half(x); }
#endif

// Four neighbors in memory, read and written at once.
template <class T>
struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) Four {
  T at[4];
};

// A loop over more elements than there are threads begins at the one and goes on by the other.
template <class Index>
__device__ inline Index first_of_thread() {
  return (Index)blockIdx.x * blockDim.x + threadIdx.x;
}
template <class Index>
__device__ inline Index all_threads() {
  return (Index)gridDim.x * blockDim.x;
}
