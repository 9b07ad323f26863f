// The sum with a residual and layer norm after it (src/models/operators/residual_norm.h). kLanes
// threads take a row and keep it in registers, kFours fours of neighboring features each.
//   forward   sum = input + branch; normalized = (sum - mean) inverse weight + bias
//   backward  dx = inverse (g - mean(g) - x' mean(g x')) + dsum, where g = dy weight, and x' is
//             normalized before weight and bias; dweight = sum over rows of dy x', dbias of dy
// The stream of sums is wide, the other numbers are of the kernel's type. Every sum has one order:
// the same numbers in every run.
#include "numbers.cuh"
#include "residual_norm.cuh"

// Of the kernels that the compiler is asked for.
#ifndef LANES
#define LANES 32
#endif
#ifndef FOURS
#define FOURS 6
#endif

/// What its threads keep of a row.
template <class Wide, int kFours>
struct RowPart {
  Wide at[kFours][4];
};

template <class Wide>
__device__ inline void widen_four(const Four<Wide>& from, Wide (&to)[4]) {
  for (int j = 0; j < 4; ++j) to[j] = from.at[j];
}

/// The first feature of the k-th four of this thread.
template <int kLanes>
__device__ inline int feature_of(int k) {
  return 4 * (k * kLanes + (int)threadIdx.x % kLanes);
}

/// Over the threads of a row; each gets the sum. All threads of a block call it.
template <int kLanes, class Wide>
__device__ inline Wide sum_of_row(Wide mine) {
  UNROLL
  for (int other = 16; other > 0; other /= 2) mine += __shfl_xor_sync(0xFFFFFFFFu, mine, other);
  if (kLanes == 32) return mine;
  __shared__ Wide warps[kResidualThreads / 32];
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
  __syncthreads();
  Wide sum = 0;
  const int first = (int)threadIdx.x / kLanes * (kLanes / 32);
  for (int w = 0; w < kLanes / 32; ++w) sum += warps[first + w];
  __syncthreads();
  return sum;
}

/// `branch` may be null, and then `sum` is.
template <class T, int kLanes, int kFours>
__device__ inline void residual_forward(const typename WideOf<T>::type* input, const T* branch,
                                        const typename WideOf<T>::type* weight,
                                        const typename WideOf<T>::type* bias,
                                        typename WideOf<T>::type* sum, T* normalized,
                                        typename WideOf<T>::type* means,
                                        typename WideOf<T>::type* inverses,
                                        const ResidualArguments& a) {
  typedef typename WideOf<T>::type Wide;
  const int rows = kResidualThreads / kLanes, mine = (int)threadIdx.x / kLanes;
  const Wide count = (Wide)a.features;
  for (long long above = (long long)blockIdx.x * rows; above < a.rows;
       above += (long long)gridDim.x * rows) {
    const long long row = above + mine;
    const long long begin = row * a.features;
    RowPart<Wide, kFours> x;
    Wide total = 0, squares = 0;
    UNROLL
    for (int k = 0; k < kFours; ++k) {
      const int f = feature_of<kLanes>(k);
      const bool is_in = row < a.rows && f < a.features;
      for (int j = 0; j < 4; ++j) x.at[k][j] = 0;
      if (!is_in) continue;
      widen_four(*(const Four<Wide>*)(input + begin + f), x.at[k]);
      if (branch) {
        const Four<T> added = *(const Four<T>*)(branch + begin + f);
        Four<Wide> to;
        for (int j = 0; j < 4; ++j) to.at[j] = x.at[k][j] += widen(added.at[j]);
        *(Four<Wide>*)(sum + begin + f) = to;
      }
      for (int j = 0; j < 4; ++j) total += x.at[k][j];
    }
    const Wide mean = sum_of_row<kLanes>(total) / count;
    UNROLL
    for (int k = 0; k < kFours; ++k)
      if (feature_of<kLanes>(k) < a.features)
        for (int j = 0; j < 4; ++j) {
          const Wide distance = x.at[k][j] - mean;
          squares += distance * distance;
        }
    const Wide inverse = 1 / square_root(sum_of_row<kLanes>(squares) / count + (Wide)a.eps);
    if (row >= a.rows) continue;
    UNROLL
    for (int k = 0; k < kFours; ++k) {
      const int f = feature_of<kLanes>(k);
      if (f >= a.features) continue;
      const Four<Wide> w = *(const Four<Wide>*)(weight + f), b = *(const Four<Wide>*)(bias + f);
      Four<T> to;
      for (int j = 0; j < 4; ++j)
        narrow((x.at[k][j] - mean) * inverse * w.at[j] + b.at[j], to.at[j]);
      *(Four<T>*)(normalized + begin + f) = to;
    }
    if (threadIdx.x % kLanes == 0) {
      means[row] = mean;
      inverses[row] = inverse;
    }
  }
}

/// `partial` [blocks, 2, features]: of its rows, sums of dy x' and of dy. `of_sum` may be null, and
/// `of_branch`, which gets the gradient in the kernel's type.
template <class T, int kLanes, int kFours>
__device__ inline void residual_backward(
    const T* of_normalized, const typename WideOf<T>::type* of_sum,
    const typename WideOf<T>::type* sum, const typename WideOf<T>::type* means,
    const typename WideOf<T>::type* inverses, const typename WideOf<T>::type* weight,
    typename WideOf<T>::type* of_input, T* of_branch, typename WideOf<T>::type* partial,
    const ResidualArguments& a) {
  typedef typename WideOf<T>::type Wide;
  const int rows = kResidualThreads / kLanes, mine = (int)threadIdx.x / kLanes;
  const Wide count = (Wide)a.features;
  RowPart<Wide, kFours> weights, biases;  // gradients of these
  for (int k = 0; k < kFours; ++k)
    for (int j = 0; j < 4; ++j) weights.at[k][j] = biases.at[k][j] = 0;
  for (long long above = (long long)blockIdx.x * rows; above < a.rows;
       above += (long long)gridDim.x * rows) {
    const long long row = above + mine;
    const long long begin = row * a.features;
    const Wide mean = row < a.rows ? means[row] : 0, inverse = row < a.rows ? inverses[row] : 0;
    RowPart<Wide, kFours> x;  // normalized, before weight and bias
    Four<T> dy[kFours];
    UNROLL
    for (int k = 0; k < kFours; ++k) {
      const int f = feature_of<kLanes>(k);
      for (int j = 0; j < 4; ++j) {
        x.at[k][j] = mean;
        narrow((Wide)0, dy[k].at[j]);
      }
      if (row >= a.rows || f >= a.features) continue;
      widen_four(*(const Four<Wide>*)(sum + begin + f), x.at[k]);
      dy[k] = *(const Four<T>*)(of_normalized + begin + f);
    }
    Wide plain = 0, along = 0;
    UNROLL
    for (int k = 0; k < kFours; ++k) {
      const int f = feature_of<kLanes>(k);
      if (f >= a.features) continue;
      const Four<Wide> w = *(const Four<Wide>*)(weight + f);
      for (int j = 0; j < 4; ++j) {
        const Wide gradient = widen(dy[k].at[j]);
        x.at[k][j] = (x.at[k][j] - mean) * inverse;
        weights.at[k][j] += gradient * x.at[k][j];
        biases.at[k][j] += gradient;
        plain += gradient * w.at[j];
        along += gradient * w.at[j] * x.at[k][j];
      }
    }
    plain = sum_of_row<kLanes>(plain) / count;
    along = sum_of_row<kLanes>(along) / count;
    if (row >= a.rows) continue;
    UNROLL
    for (int k = 0; k < kFours; ++k) {
      const int f = feature_of<kLanes>(k);
      if (f >= a.features) continue;
      const Four<Wide> w = *(const Four<Wide>*)(weight + f);
      Four<Wide> to;
      for (int j = 0; j < 4; ++j)
        to.at[j] = inverse * (widen(dy[k].at[j]) * w.at[j] - plain - x.at[k][j] * along);
      if (of_sum) {
        const Four<Wide> added = *(const Four<Wide>*)(of_sum + begin + f);
        for (int j = 0; j < 4; ++j) to.at[j] += added.at[j];
      }
      *(Four<Wide>*)(of_input + begin + f) = to;
      if (of_branch) {
        Four<T> rounded;
        for (int j = 0; j < 4; ++j) narrow(to.at[j], rounded.at[j]);
        *(Four<T>*)(of_branch + begin + f) = rounded;
      }
    }
  }
  // Over the rows of a block, one after another.
  __shared__ Wide all[2][4][kResidualThreads];
  for (int k = 0; k < kFours; ++k) {
    const int f = feature_of<kLanes>(k);
    __syncthreads();
    for (int j = 0; j < 4; ++j) {
      all[0][j][threadIdx.x] = weights.at[k][j];
      all[1][j][threadIdx.x] = biases.at[k][j];
    }
    __syncthreads();
    if (mine > 0 || f >= a.features) continue;
    for (int which = 0; which < 2; ++which)
      for (int j = 0; j < 4; ++j) {
        Wide total = 0;
        for (int r = 0; r < rows; ++r) total += all[which][j][threadIdx.x + r * kLanes];
        partial[((long long)blockIdx.x * 2 + which) * a.features + f + j] = total;
      }
  }
}

/// Over `blocks` of what residual_backward left, kResidualJoined features a block.
template <class Wide>
__device__ inline void residual_totals(const Wide* partial, int blocks, Wide* weight, Wide* bias,
                                       const ResidualArguments& a) {
  __shared__ Wide all[2][kResidualThreads];
  const int feature = (int)(blockIdx.x * kResidualJoined + threadIdx.x % kResidualJoined);
  const int above = (int)threadIdx.x / kResidualJoined;
  Wide sums[2] = {0, 0};
  if (feature < a.features)
    for (int b = above; b < blocks; b += kResidualThreads / kResidualJoined)
      for (int k = 0; k < 2; ++k) sums[k] += partial[((long long)b * 2 + k) * a.features + feature];
  for (int k = 0; k < 2; ++k) all[k][threadIdx.x] = sums[k];
  __syncthreads();
  for (int half = kResidualThreads / kResidualJoined / 2; half > 0; half /= 2) {
    if (above < half)
      for (int k = 0; k < 2; ++k)
        all[k][threadIdx.x] += all[k][threadIdx.x + half * kResidualJoined];
    __syncthreads();
  }
  if (above > 0 || feature >= a.features) return;
  weight[feature] = all[0][threadIdx.x];
  bias[feature] = all[1][threadIdx.x];
}

// Two blocks a processor where their registers suffice.
#define RESIDUAL_BLOCKS(wide) (sizeof(wide) == 4 && FOURS <= 6 ? 2 : 1)

#define RESIDUAL_NORM(name, type, wide)                                                        \
  extern "C" __global__ void residual_norm_forward_##name(                                     \
      const wide* input, const type* branch, const wide* weight, const wide* bias, wide* sum,  \
      type* normalized, wide* means, wide* inverses, ResidualArguments a) {                    \
    residual_forward<type, LANES, FOURS>(input, branch, weight, bias, sum, normalized, means,  \
                                         inverses, a);                                         \
  }                                                                                            \
  extern "C" __global__ void __launch_bounds__(kResidualThreads, RESIDUAL_BLOCKS(wide))        \
      residual_norm_backward_##name(const type* of_normalized, const wide* of_sum,             \
                                    const wide* sum, const wide* means, const wide* inverses,  \
                                    const wide* weight, wide* of_input, type* of_branch,       \
                                    wide* partial, ResidualArguments a) {                      \
    residual_backward<type, LANES, FOURS>(of_normalized, of_sum, sum, means, inverses, weight, \
                                          of_input, of_branch, partial, a);                    \
  }                                                                                            \
  extern "C" __global__ void residual_norm_totals_##name(                                      \
      const wide* partial, int blocks, wide* weight, wide* bias, ResidualArguments a) {        \
    residual_totals<wide>(partial, blocks, weight, bias, a);                                   \
  }

WITH_FLOAT(RESIDUAL_NORM(float, float, float))
WITH_DOUBLE(RESIDUAL_NORM(double, double, double))
WITH_BFLOAT16(RESIDUAL_NORM(bfloat16, BFloat16, float))
WITH_HALF(RESIDUAL_NORM(half, Half, float))
