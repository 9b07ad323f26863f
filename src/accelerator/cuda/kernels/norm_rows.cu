// Batch norm, and the sum with a residual and ReLU after it, where channels are neighbors in memory
// (src/models/layers/batch_norm.h). Each pass over the data reads and writes 16 bytes a thread.
//   statistics  of each thread's rows about its first one, joined by Chan, Golub and LeVeque's
//               formula (1979) in a block, then over blocks
//   forward     (x - mean) * slope + bias + residual, rounded once; slope = weight * inverse
//   backward    dx = slope (dy - sum(dy)/n - (x - mean) inverse^2 sum(dy (x - mean))/n), where dy
//               is 0 where ReLU cut
// Every sum has one order: the same numbers in every run.
#include "norm_rows.cuh"
#include "numbers.cuh"

constexpr int kAhead = 4, kFewAhead = 2;  // rows that a thread reads at once

// Channels of a thread: 16 bytes of them.
template <class T>
struct LaneOf {
  enum { kSize = 16 / sizeof(T) };
};

template <class T>
struct alignas(16) Lane {
  T at[LaneOf<T>::kSize];
};

/// Where a thread stands.
struct Place {
  long long row, step;  // the first row, and how far the next one is
  int channel;          // the first of its lane
  int above, rows;      // its row in the block, and how many these are
  bool works;
};

template <class T>
__device__ inline Place place_of(const RowsArguments& a) {
  Place p;
  p.rows = kRowsThreads / a.lanes;
  p.above = (int)threadIdx.x / a.lanes;
  p.channel = ((int)blockIdx.y * a.lanes + (int)threadIdx.x % a.lanes) * LaneOf<T>::kSize;
  p.row = (long long)blockIdx.x * p.rows + p.above;
  p.step = (long long)gridDim.x * p.rows;
  p.works = p.above < p.rows && p.channel < a.channels;
  return p;
}

template <class T>
__device__ inline Lane<T> lane_at(const T* numbers, long long row, const Place& p, int channels) {
  return *(const Lane<T>*)(numbers + row * channels + p.channel);
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

/// `partial` [blocks along x, 2, channels]: means and squares; `counts` [blocks along x].
template <class T>
__device__ inline void sums_of_rows(const T* x, float* partial, float* counts,
                                    const RowsArguments& a) {
  enum { kLane = LaneOf<T>::kSize };
  __shared__ Moments all[kLane][kRowsThreads];
  const Place p = place_of<T>(a);
  float origin[kLane], sums[kLane], squares[kLane];
  for (int j = 0; j < kLane; ++j) origin[j] = sums[j] = squares[j] = 0;
  float count = 0;
  if (p.works && p.row < a.rows) {
    const Lane<T> first = lane_at(x, p.row, p, a.channels);
    for (int j = 0; j < kLane; ++j) origin[j] = widen(first.at[j]);
    for (long long row = p.row; row < a.rows; row += kAhead * p.step) {
      Lane<T> some[kAhead];
      UNROLL
      for (int k = 0; k < kAhead; ++k)
        some[k] = row + k * p.step < a.rows ? lane_at(x, row + k * p.step, p, a.channels) : first;
      UNROLL
      for (int k = 0; k < kAhead; ++k) {
        if (row + k * p.step < a.rows) ++count;  // else the origin, which adds 0
        for (int j = 0; j < kLane; ++j) {
          const float distance = widen(some[k].at[j]) - origin[j];
          sums[j] += distance;
          squares[j] += distance * distance;
        }
      }
    }
  }
  for (int j = 0; j < kLane; ++j) {
    const float mean = count > 0 ? sums[j] / count : 0, rest = squares[j] - sums[j] * mean;
    all[j][threadIdx.x] = {count, origin[j] + mean, rest < 0 ? 0 : rest};
  }
  __syncthreads();
  for (int left = p.rows; left > 1; left = half_of(left)) {
    const int half = half_of(left);
    if (p.above < half && p.above + half < left)
      for (int j = 0; j < kLane; ++j)
        all[j][threadIdx.x] = joined(all[j][threadIdx.x], all[j][threadIdx.x + half * a.lanes]);
    __syncthreads();
  }
  if (p.above > 0 || !p.works) return;
  float* mine = partial + (long long)blockIdx.x * 2 * a.channels + p.channel;
  for (int j = 0; j < kLane; ++j) {
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

template <class T>
struct Scales {
  float mean[LaneOf<T>::kSize], slope[LaneOf<T>::kSize], bias[LaneOf<T>::kSize];
};

template <class T>
__device__ inline Scales<T> scales_of(const RowsPlanes& planes, int channel, double eps) {
  Scales<T> s;
  for (int j = 0; j < LaneOf<T>::kSize; ++j) {
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
__device__ inline T normed(T x, const Scales<T>& s, int j, float residual, int relu) {
  const float y = (widen(x) - s.mean[j]) * s.slope[j] + s.bias[j] + residual;
  T to;
  narrow(relu && y < 0 ? 0.f : y, to);
  return to;
}

template <class T>
__device__ inline void forward(const T* x, const T* residual, T* to, const RowsPlanes& planes,
                               const RowsArguments& a) {
  enum { kLane = LaneOf<T>::kSize };
  const Place p = place_of<T>(a);
  if (!p.works) return;
  const Scales<T> s = scales_of<T>(planes, p.channel, a.eps);
  for (long long row = p.row; row < a.rows; row += kFewAhead * p.step) {
    Lane<T> some[kFewAhead], added[kFewAhead];
    UNROLL
    for (int k = 0; k < kFewAhead; ++k) {
      const long long at = row + k * p.step;
      if (at >= a.rows) continue;
      some[k] = lane_at(x, at, p, a.channels);
      if (residual) added[k] = lane_at(residual, at, p, a.channels);
    }
    UNROLL
    for (int k = 0; k < kFewAhead; ++k) {
      const long long at = row + k * p.step;
      if (at >= a.rows) continue;
      for (int j = 0; j < kLane; ++j)
        some[k].at[j] = normed(some[k].at[j], s, j, residual ? widen(added[k].at[j]) : 0.f, a.relu);
      *(Lane<T>*)(to + at * a.channels + p.channel) = some[k];
    }
  }
}

/// A gradient of ReLU's output y becomes that of its input.
template <class T>
__device__ inline T behind_relu(T dy, T y) {
  T zero;
  narrow(0.f, zero);
  return widen(y) <= 0 ? zero : dy;
}

/// `partial` [blocks along x, 2, channels]: sums of dy and of dy (x - mean). `output`, the forward
/// pass', is null where it can be computed again: there was no residual. `behind` takes dy behind
/// ReLU unless null.
template <class T>
__device__ inline void backward_sums(const T* dy, const T* x, const T* output, T* behind,
                                     float* partial, const RowsPlanes& planes,
                                     const RowsArguments& a) {
  enum { kLane = LaneOf<T>::kSize };
  __shared__ float all[2][kLane][kRowsThreads];
  const Place p = place_of<T>(a);
  float sums[kLane], products[kLane];
  for (int j = 0; j < kLane; ++j) sums[j] = products[j] = 0;
  if (p.works) {
    const Scales<T> s = scales_of<T>(planes, p.channel, a.eps);
    for (long long row = p.row; row < a.rows; row += kFewAhead * p.step) {
      Lane<T> some[kFewAhead], given[kFewAhead], out[kFewAhead];
      UNROLL
      for (int k = 0; k < kFewAhead; ++k) {
        const long long at = row + k * p.step;
        if (at >= a.rows) continue;
        some[k] = lane_at(x, at, p, a.channels);
        given[k] = lane_at(dy, at, p, a.channels);
        if (output) out[k] = lane_at(output, at, p, a.channels);
      }
      UNROLL
      for (int k = 0; k < kFewAhead; ++k) {
        const long long at = row + k * p.step;
        if (at >= a.rows) continue;
        for (int j = 0; j < kLane; ++j) {
          if (a.relu)
            given[k].at[j] = behind_relu(
                given[k].at[j], output ? out[k].at[j] : normed(some[k].at[j], s, j, 0.f, 1));
          const float gradient = widen(given[k].at[j]);
          sums[j] += gradient;
          products[j] += gradient * (widen(some[k].at[j]) - s.mean[j]);
        }
        if (behind) *(Lane<T>*)(behind + at * a.channels + p.channel) = given[k];
      }
    }
  }
  for (int j = 0; j < kLane; ++j) {
    all[0][j][threadIdx.x] = sums[j];
    all[1][j][threadIdx.x] = products[j];
  }
  __syncthreads();
  for (int left = p.rows; left > 1; left = half_of(left)) {
    const int half = half_of(left);
    if (p.above < half && p.above + half < left)
      for (int k = 0; k < 2; ++k)
        for (int j = 0; j < kLane; ++j)
          all[k][j][threadIdx.x] += all[k][j][threadIdx.x + half * a.lanes];
    __syncthreads();
  }
  if (p.above > 0 || !p.works) return;
  float* mine = partial + (long long)blockIdx.x * 2 * a.channels + p.channel;
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < kLane; ++j) mine[k * a.channels + j] = all[k][j][threadIdx.x];
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

/// `a.relu` is 0 where `dy` is behind ReLU already.
template <class T>
__device__ inline void backward(const T* dy, const T* x, T* dx, const float* along,
                                const RowsPlanes& planes, const RowsArguments& a) {
  enum { kLane = LaneOf<T>::kSize };
  const Place p = place_of<T>(a);
  if (!p.works) return;
  const Scales<T> s = scales_of<T>(planes, p.channel, a.eps);
  float plain[kLane], slanted[kLane];
  for (int j = 0; j < kLane; ++j) {
    plain[j] = along[p.channel + j];
    slanted[j] = along[a.channels + p.channel + j];
  }
  for (long long row = p.row; row < a.rows; row += kFewAhead * p.step) {
    Lane<T> some[kFewAhead], given[kFewAhead];
    UNROLL
    for (int k = 0; k < kFewAhead; ++k) {
      const long long at = row + k * p.step;
      if (at >= a.rows) continue;
      some[k] = lane_at(x, at, p, a.channels);
      given[k] = lane_at(dy, at, p, a.channels);
    }
    UNROLL
    for (int k = 0; k < kFewAhead; ++k) {
      const long long at = row + k * p.step;
      if (at >= a.rows) continue;
      for (int j = 0; j < kLane; ++j) {
        if (a.relu)
          given[k].at[j] = behind_relu(given[k].at[j], normed(some[k].at[j], s, j, 0.f, 1));
        const float gradient = widen(given[k].at[j]);
        const float distance = widen(some[k].at[j]) - s.mean[j];
        narrow((gradient - plain[j] - distance * slanted[j]) * s.slope[j], some[k].at[j]);
      }
      *(Lane<T>*)(dx + at * a.channels + p.channel) = some[k];
    }
  }
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
