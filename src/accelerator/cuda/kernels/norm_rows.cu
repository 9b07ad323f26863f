// Batch norm, and the sum with a residual and ReLU after it, where channels are neighbors in memory
// (src/models/operators/batch_norm.h). A thread keeps four channels and goes over rows: more
// channels would take the registers that rows ahead need.
//   statistics  of each thread's rows about its first one, joined by Chan, Golub and LeVeque's
//               formula (1979) in a block, then over blocks
//   forward     (x - mean) * slope + bias + residual, rounded once; slope = weight * inverse
//   backward    dx = slope (dy - sum(dy)/n - (x - mean) inverse^2 sum(dy (x - mean))/n), where dy
//               is 0 where ReLU cut
// Every sum has one order: the same numbers in every run.
#include "norm_rows.cuh"
#include "numbers.cuh"

constexpr int kAhead = 8, kFewAhead = 4;  // rows that a thread reads at once

/// Where a thread stands.
struct Place {
  long long row, step;  // the first row, and how far the next one is
  long long begin;      // the first number of it
  int hop;              // from a row to the thread's next
  int channel;          // the first of four
  int above, rows;      // its row in the block, and how many these are
  bool works;
};

__device__ inline Place place_of(const RowsArguments& a) {
  Place p;
  p.rows = kRowsThreads / a.lanes;
  p.above = (int)threadIdx.x / a.lanes;
  p.channel = ((int)blockIdx.y * a.lanes + (int)threadIdx.x % a.lanes) * kRowsLane;
  p.row = (long long)blockIdx.x * p.rows + p.above;
  p.step = (long long)gridDim.x * p.rows;
  p.begin = p.row * a.channels + p.channel;
  p.hop = (int)p.step * a.channels;
  p.works = p.above < p.rows && p.channel < a.channels;
  return p;
}

/// Calls `turn` with rows of this thread, `kCount` at once, and then with those that are left.
template <int kCount, class Turn>
__device__ inline void each_row(const Place& p, long long rows, const Turn& turn) {
  long long row = p.row, at = p.begin;
  for (; row + (kCount - 1) * p.step < rows; row += kCount * p.step) {
    turn.template rows<kCount>(at, p.hop);
    at += (long long)kCount * p.hop;
  }
  for (; row < rows; row += p.step, at += p.hop) turn.template rows<1>(at, p.hop);
}

template <class T>
__device__ inline Four<T> four_at(const T* numbers) {
  return *(const Four<T>*)numbers;
}

/// Mean and squared distances from it of so many numbers.
struct Moments {
  float count, mean, squares;
};

__device__ inline Moments joined(const Moments& a, const Moments& b) {
  const float count = a.count + b.count;
  if (count == 0) return a;
  const float share = b.count / count, between = b.mean - a.mean;
  return {count, a.mean + between * share,
          a.squares + b.squares + between * between * (a.count * share)};
}

// Half as many stand each time; the first has all.
__device__ inline int half_of(int count) {
  int half = 1;
  while (2 * half < count) half *= 2;
  return half;
}

/// Sums about the thread's first row.
template <class T>
struct SumsOfRows {
  const T* x;
  float (&origin)[kRowsLane], (&sums)[kRowsLane], (&squares)[kRowsLane];
  float& count;

  template <int kCount>
  __device__ inline void rows(long long at, int hop) const {
    Four<T> some[kCount];
    UNROLL
    for (int k = 0; k < kCount; ++k) some[k] = four_at(x + at + (long long)k * hop);
    UNROLL
    for (int k = 0; k < kCount; ++k)
      for (int j = 0; j < kRowsLane; ++j) {
        const float distance = widen(some[k].at[j]) - origin[j];
        sums[j] += distance;
        squares[j] += distance * distance;
      }
    count += kCount;
  }
};

/// `partial` [blocks along x, 2, channels]: means and squares; `counts` [blocks along x].
template <class T>
__device__ inline void sums_of_rows(const T* x, float* partial, float* counts,
                                    const RowsArguments& a) {
  __shared__ Moments all[kRowsLane][kRowsThreads];
  const Place p = place_of(a);
  float origin[kRowsLane], sums[kRowsLane], squares[kRowsLane], count = 0;
  for (int j = 0; j < kRowsLane; ++j) origin[j] = sums[j] = squares[j] = 0;
  if (p.works && p.row < a.rows) {
    const Four<T> first = four_at(x + p.begin);
    for (int j = 0; j < kRowsLane; ++j) origin[j] = widen(first.at[j]);
    each_row<kAhead>(p, a.rows, SumsOfRows<T>{x, origin, sums, squares, count});
  }
  for (int j = 0; j < kRowsLane; ++j) {
    const float mean = count > 0 ? sums[j] / count : 0, rest = squares[j] - sums[j] * mean;
    all[j][threadIdx.x] = {count, origin[j] + mean, rest < 0 ? 0 : rest};
  }
  __syncthreads();
  for (int left = p.rows; left > 1; left = half_of(left)) {
    const int half = half_of(left);
    if (p.above < half && p.above + half < left)
      for (int j = 0; j < kRowsLane; ++j)
        all[j][threadIdx.x] = joined(all[j][threadIdx.x], all[j][threadIdx.x + half * a.lanes]);
    __syncthreads();
  }
  if (p.above > 0 || !p.works) return;
  float* mine = partial + (long long)blockIdx.x * 2 * a.channels + p.channel;
  for (int j = 0; j < kRowsLane; ++j) {
    mine[j] = all[j][threadIdx.x].mean;
    mine[a.channels + j] = all[j][threadIdx.x].squares;
  }
  if (p.channel == 0) counts[blockIdx.x] = all[0][threadIdx.x].count;
}

__device__ inline float inverse_of(float variance, double eps) {
  return 1 / sqrtf(variance + (float)eps);
}

/// Over `blocks` of what sums_of_rows left, kRowsJoined channels a block.
extern "C" __global__ void norm_rows_statistics(const float* partial, const float* counts,
                                                int blocks, RowsStatistics to, RowsArguments a) {
  __shared__ Moments all[kRowsThreads];
  const int channel = (int)(blockIdx.x * kRowsJoined + threadIdx.x % kRowsJoined);
  const int above = (int)threadIdx.x / kRowsJoined;
  Moments mine = {0, 0, 0};
  if (channel < a.channels)
    for (int b = above; b < blocks; b += kRowsThreads / kRowsJoined) {
      const float* from = partial + (long long)b * 2 * a.channels + channel;
      mine = joined(mine, {counts[b], from[0], from[a.channels]});
    }
  all[threadIdx.x] = mine;
  __syncthreads();
  for (int half = kRowsThreads / kRowsJoined / 2; half > 0; half /= 2) {
    if (above < half)
      all[threadIdx.x] = joined(all[threadIdx.x], all[threadIdx.x + half * kRowsJoined]);
    __syncthreads();
  }
  if (above > 0 || channel >= a.channels) return;
  const float mean = all[threadIdx.x].mean, squares = all[threadIdx.x].squares;
  to.mean[channel] = mean;
  to.inverse[channel] = inverse_of(squares / (float)a.rows, a.eps);
  if (!to.running_mean) return;
  const float momentum = (float)to.momentum;
  to.running_mean[channel] = (1 - momentum) * to.running_mean[channel] + momentum * mean;
  to.running_var[channel] =
      (1 - momentum) * to.running_var[channel] + momentum * (squares / (float)(a.rows - 1));
}

/// Of a thread's channels.
struct Scales {
  float mean[kRowsLane], slope[kRowsLane], bias[kRowsLane];
};

__device__ inline Scales scales_of(const RowsPlanes& planes, int channel, double eps) {
  Scales s;
  for (int j = 0; j < kRowsLane; ++j) {
    const int c = channel + j;
    const float inverse = planes.variance ? inverse_of(planes.variance[c], eps) : planes.inverse[c];
    s.mean[j] = planes.mean[c];
    s.slope[j] = planes.weight ? inverse * planes.weight[c] : inverse;
    s.bias[j] = planes.bias ? planes.bias[c] : 0;
  }
  return s;
}

// NaN stays NaN.
template <class T>
__device__ inline T normed(T x, const Scales& s, int j, float residual, int relu) {
  const float y = (widen(x) - s.mean[j]) * s.slope[j] + s.bias[j] + residual;
  T to;
  narrow(relu && y < 0 ? 0.f : y, to);
  return to;
}

template <class T, bool kAdds>
struct ForwardRows {
  const T *x, *residual;
  T* to;
  const Scales& s;
  int relu;

  template <int kCount>
  __device__ inline void rows(long long at, int hop) const {
    Four<T> some[kCount], added[kCount];
    UNROLL
    for (int k = 0; k < kCount; ++k) {
      some[k] = four_at(x + at + (long long)k * hop);
      if (kAdds) added[k] = four_at(residual + at + (long long)k * hop);
    }
    UNROLL
    for (int k = 0; k < kCount; ++k) {
      for (int j = 0; j < kRowsLane; ++j)
        some[k].at[j] = normed(some[k].at[j], s, j, kAdds ? widen(added[k].at[j]) : 0.f, relu);
      *(Four<T>*)(to + at + (long long)k * hop) = some[k];
    }
  }
};

template <class T>
__device__ inline void forward(const T* x, const T* residual, T* to, const RowsPlanes& planes,
                               const RowsArguments& a) {
  const Place p = place_of(a);
  if (!p.works) return;
  const Scales s = scales_of(planes, p.channel, a.eps);
  if (residual)
    each_row<kFewAhead>(p, a.rows, ForwardRows<T, true>{x, residual, to, s, a.relu});
  else
    each_row<kAhead>(p, a.rows, ForwardRows<T, false>{x, residual, to, s, a.relu});
}

/// How a gradient of ReLU's output becomes that of its input: there is no ReLU, or its output is
/// computed again (there was no residual), or it is given.
enum class Mask { none, again, given };

template <class T>
__device__ inline T behind_relu(T dy, T y) {
  T zero;
  narrow(0.f, zero);
  return widen(y) <= 0 ? zero : dy;
}

template <class T, Mask kMask>
struct BackwardSums {
  const T *dy, *x, *output;
  T* behind;
  const Scales& s;
  float (&sums)[kRowsLane], (&products)[kRowsLane];

  template <int kCount>
  __device__ inline void rows(long long at, int hop) const {
    Four<T> some[kCount], given[kCount], out[kCount];
    UNROLL
    for (int k = 0; k < kCount; ++k) {
      some[k] = four_at(x + at + (long long)k * hop);
      given[k] = four_at(dy + at + (long long)k * hop);
      if (kMask == Mask::given) out[k] = four_at(output + at + (long long)k * hop);
    }
    UNROLL
    for (int k = 0; k < kCount; ++k) {
      for (int j = 0; j < kRowsLane; ++j) {
        if (kMask == Mask::given) given[k].at[j] = behind_relu(given[k].at[j], out[k].at[j]);
        if (kMask == Mask::again)
          given[k].at[j] = behind_relu(given[k].at[j], normed(some[k].at[j], s, j, 0.f, 1));
        const float gradient = widen(given[k].at[j]);
        sums[j] += gradient;
        products[j] += gradient * (widen(some[k].at[j]) - s.mean[j]);
      }
      if (kMask == Mask::given) *(Four<T>*)(behind + at + (long long)k * hop) = given[k];
    }
  }
};

/// `partial` [blocks along x, 2, channels]: sums of dy and of dy (x - mean). `output`, the forward
/// pass', is null where there was no residual; else `behind` takes dy behind ReLU.
template <class T>
__device__ inline void backward_sums(const T* dy, const T* x, const T* output, T* behind,
                                     float* partial, const RowsPlanes& planes,
                                     const RowsArguments& a) {
  __shared__ float all[2][kRowsLane][kRowsThreads];
  const Place p = place_of(a);
  float sums[kRowsLane], products[kRowsLane];
  for (int j = 0; j < kRowsLane; ++j) sums[j] = products[j] = 0;
  if (p.works) {
    const Scales s = scales_of(planes, p.channel, a.eps);
    if (output)
      each_row<kFewAhead>(p, a.rows,
                          BackwardSums<T, Mask::given>{dy, x, output, behind, s, sums, products});
    else if (a.relu)
      each_row<kFewAhead>(p, a.rows,
                          BackwardSums<T, Mask::again>{dy, x, output, behind, s, sums, products});
    else
      each_row<kFewAhead>(p, a.rows,
                          BackwardSums<T, Mask::none>{dy, x, output, behind, s, sums, products});
  }
  for (int j = 0; j < kRowsLane; ++j) {
    all[0][j][threadIdx.x] = sums[j];
    all[1][j][threadIdx.x] = products[j];
  }
  __syncthreads();
  for (int left = p.rows; left > 1; left = half_of(left)) {
    const int half = half_of(left);
    if (p.above < half && p.above + half < left)
      for (int k = 0; k < 2; ++k)
        for (int j = 0; j < kRowsLane; ++j)
          all[k][j][threadIdx.x] += all[k][j][threadIdx.x + half * a.lanes];
    __syncthreads();
  }
  if (p.above > 0 || !p.works) return;
  float* mine = partial + (long long)blockIdx.x * 2 * a.channels + p.channel;
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < kRowsLane; ++j) mine[k * a.channels + j] = all[k][j][threadIdx.x];
}

/// Over `blocks` of what backward_sums left, kRowsJoined channels a block.
extern "C" __global__ void norm_rows_totals(const float* partial, int blocks, const float* inverse,
                                            RowsTotals to, RowsArguments a) {
  __shared__ float all[2][kRowsThreads];
  const int channel = (int)(blockIdx.x * kRowsJoined + threadIdx.x % kRowsJoined);
  const int above = (int)threadIdx.x / kRowsJoined;
  float sums[2] = {0, 0};
  if (channel < a.channels)
    for (int b = above; b < blocks; b += kRowsThreads / kRowsJoined)
      for (int k = 0; k < 2; ++k) sums[k] += partial[((long long)b * 2 + k) * a.channels + channel];
  for (int k = 0; k < 2; ++k) all[k][threadIdx.x] = sums[k];
  __syncthreads();
  for (int half = kRowsThreads / kRowsJoined / 2; half > 0; half /= 2) {
    if (above < half)
      for (int k = 0; k < 2; ++k) all[k][threadIdx.x] += all[k][threadIdx.x + half * kRowsJoined];
    __syncthreads();
  }
  if (above > 0 || channel >= a.channels) return;
  const float sum = all[0][threadIdx.x], product = all[1][threadIdx.x], scale = inverse[channel];
  to.bias[channel] = sum;
  to.weight[channel] = product * scale;
  to.along[channel] = sum / (float)a.rows;
  to.along[a.channels + channel] = product / (float)a.rows * scale * scale;
}

template <class T, Mask kMask>
struct BackwardRows {
  const T *dy, *x;
  T* dx;
  const Scales& s;
  const float (&plain)[kRowsLane], (&slanted)[kRowsLane];

  template <int kCount>
  __device__ inline void rows(long long at, int hop) const {
    Four<T> some[kCount], given[kCount];
    UNROLL
    for (int k = 0; k < kCount; ++k) {
      some[k] = four_at(x + at + (long long)k * hop);
      given[k] = four_at(dy + at + (long long)k * hop);
    }
    UNROLL
    for (int k = 0; k < kCount; ++k) {
      for (int j = 0; j < kRowsLane; ++j) {
        if (kMask == Mask::again)
          given[k].at[j] = behind_relu(given[k].at[j], normed(some[k].at[j], s, j, 0.f, 1));
        const float distance = widen(some[k].at[j]) - s.mean[j];
        narrow((widen(given[k].at[j]) - plain[j] - distance * slanted[j]) * s.slope[j],
               some[k].at[j]);
      }
      *(Four<T>*)(dx + at + (long long)k * hop) = some[k];
    }
  }
};

/// `a.relu` is 0 where `dy` is behind ReLU already.
template <class T>
__device__ inline void backward(const T* dy, const T* x, T* dx, const float* along,
                                const RowsPlanes& planes, const RowsArguments& a) {
  const Place p = place_of(a);
  if (!p.works) return;
  const Scales s = scales_of(planes, p.channel, a.eps);
  float plain[kRowsLane], slanted[kRowsLane];
  for (int j = 0; j < kRowsLane; ++j) {
    plain[j] = along[p.channel + j];
    slanted[j] = along[a.channels + p.channel + j];
  }
  if (a.relu)
    each_row<kFewAhead>(p, a.rows, BackwardRows<T, Mask::again>{dy, x, dx, s, plain, slanted});
  else
    each_row<kFewAhead>(p, a.rows, BackwardRows<T, Mask::none>{dy, x, dx, s, plain, slanted});
}

#define NORM_ROWS(name, type)                                                                    \
  extern "C" __global__ void norm_rows_sums_##name(const type* x, float* partial, float* counts, \
                                                   RowsArguments a) {                            \
    sums_of_rows<type>(x, partial, counts, a);                                                   \
  }                                                                                              \
  extern "C" __global__ void norm_rows_forward_##name(                                           \
      const type* x, const type* residual, type* to, RowsPlanes planes, RowsArguments a) {       \
    forward<type>(x, residual, to, planes, a);                                                   \
  }                                                                                              \
  extern "C" __global__ void norm_rows_backward_sums_##name(                                     \
      const type* dy, const type* x, const type* output, type* behind, float* partial,           \
      RowsPlanes planes, RowsArguments a) {                                                      \
    backward_sums<type>(dy, x, output, behind, partial, planes, a);                              \
  }                                                                                              \
  extern "C" __global__ void norm_rows_backward_##name(const type* dy, const type* x, type* dx,  \
                                                       const float* along, RowsPlanes planes,    \
                                                       RowsArguments a) {                        \
    backward<type>(dy, x, dx, along, planes, a);                                                 \
  }

WITH_FLOAT(NORM_ROWS(float, float))
WITH_BFLOAT16(NORM_ROWS(bfloat16, BFloat16))
WITH_HALF(NORM_ROWS(half, Half))
