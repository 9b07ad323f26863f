// Sums over rows (src/models/operators/biased_product.h), in one order: the same numbers in every
// run. Blocks along x take other rows, along y other columns.
#include "column_sums.cuh"
#include "numbers.cuh"

constexpr int kRowsAhead = 8;  // that a thread reads at once

template <class T, class Wide>
__device__ inline void add_columns(const Four<T>& some, Wide (&sums)[4]) {
  for (int j = 0; j < 4; ++j) sums[j] += widen(some.at[j]);
}

/// `partial` [blocks along x, columns].
template <class T>
__device__ inline void column_sums(const T* rows, typename WideOf<T>::type* partial,
                                   const ColumnArguments& a) {
  typedef typename WideOf<T>::type Wide;
  __shared__ Wide all[4][kColumnThreads];
  constexpr int kAbove = kColumnThreads / 32;
  const int column = (int)blockIdx.y * kColumnBlock + (int)threadIdx.x % 32 * 4;
  const int above = (int)threadIdx.x / 32;
  const bool works = column < a.columns;
  const long long step = (long long)gridDim.x * kAbove;
  Wide sums[4] = {0, 0, 0, 0};
  if (works) {
    long long row = (long long)blockIdx.x * kAbove + above;
    for (; row + (kRowsAhead - 1) * step < a.rows; row += kRowsAhead * step) {
      Four<T> some[kRowsAhead];
      UNROLL
      for (int k = 0; k < kRowsAhead; ++k)
        some[k] = *(const Four<T>*)(rows + (row + k * step) * a.columns + column);
      UNROLL
      for (int k = 0; k < kRowsAhead; ++k) add_columns(some[k], sums);
    }
    for (; row < a.rows; row += step)
      add_columns(*(const Four<T>*)(rows + row * a.columns + column), sums);
  }
  for (int j = 0; j < 4; ++j) all[j][threadIdx.x] = sums[j];
  __syncthreads();
  for (int half = kAbove / 2; half > 0; half /= 2) {
    if (above < half)
      for (int j = 0; j < 4; ++j) all[j][threadIdx.x] += all[j][threadIdx.x + half * 32];
    __syncthreads();
  }
  if (above > 0 || !works) return;
  for (int j = 0; j < 4; ++j)
    partial[(long long)blockIdx.x * a.columns + column + j] = all[j][threadIdx.x];
}

/// Over `blocks` of what column_sums left, kColumnJoined columns a block.
template <class T>
__device__ inline void column_totals(const typename WideOf<T>::type* partial, int blocks, T* sums,
                                     const ColumnArguments& a) {
  typedef typename WideOf<T>::type Wide;
  __shared__ Wide all[kColumnThreads];
  const int column = (int)(blockIdx.x * kColumnJoined + threadIdx.x % kColumnJoined);
  const int above = (int)threadIdx.x / kColumnJoined;
  Wide sum = 0;
  if (column < a.columns)
    for (int b = above; b < blocks; b += kColumnThreads / kColumnJoined)
      sum += partial[(long long)b * a.columns + column];
  all[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kColumnThreads / kColumnJoined / 2; half > 0; half /= 2) {
    if (above < half) all[threadIdx.x] += all[threadIdx.x + half * kColumnJoined];
    __syncthreads();
  }
  if (above == 0 && column < a.columns) narrow(all[threadIdx.x], sums[column]);
}

#define COLUMN_SUMS(name, type, wide)                                                          \
  extern "C" __global__ void column_sums_##name(const type* rows, wide* partial,               \
                                                ColumnArguments a) {                           \
    column_sums<type>(rows, partial, a);                                                       \
  }                                                                                            \
  extern "C" __global__ void column_totals_##name(const wide* partial, int blocks, type* sums, \
                                                  ColumnArguments a) {                         \
    column_totals<type>(partial, blocks, sums, a);                                             \
  }

WITH_FLOAT(COLUMN_SUMS(float, float, float))
WITH_DOUBLE(COLUMN_SUMS(double, double, double))
WITH_BFLOAT16(COLUMN_SUMS(bfloat16, BFloat16, float))
WITH_HALF(COLUMN_SUMS(half, Half, float))
