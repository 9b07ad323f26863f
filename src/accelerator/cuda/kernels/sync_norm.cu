// Synchronized batch norm between its collectives (src/models/operators/sync_statistics.h):
// statistics of a member as doubles, and those of all members joined in rank order.
#include "numbers.cuh"
#include "sync_norm.cuh"

template <class T>
__device__ inline void sync_norm_pack(const T* mean, const T* variance, double* to, int channels,
                                      double count) {
  for (int i = first_of_thread<int>(); i <= 2 * channels; i += all_threads<int>())
    to[i] = i < channels       ? (double)mean[i]
            : i < 2 * channels ? (double)variance[i - channels] * count
                               : count;
}

/// As at::lerp.
template <class T>
__device__ inline T between(T from, T to, T share) {
  return share < (T)0.5 ? from + share * (to - from) : to - (to - from) * ((T)1 - share);
}

/// In one block where it has no momentum: all of it reads `batches` before that moves.
template <class T>
__device__ inline void sync_norm_join(const double* all, const SyncNormPlanes& to,
                                      const SyncNormArguments& a) {
  const int width = 2 * a.channels + 1;
  double count = 0;
  for (int m = 0; m < a.members; ++m) count += all[m * width + 2 * a.channels];
  const int any = count > 0;
  const double some = count > 1 ? count : 1, others = count > 2 ? count - 1 : 1;
  const long long batches = a.has_momentum ? 1 : *a.batches + any;
  const T share = (T)(!any             ? 0.0
                      : a.has_momentum ? a.momentum
                                       : 1.0 / (double)(batches > 1 ? batches : 1));
  __syncthreads();
  if (first_of_thread<int>() == 0) {
    *to.count = (int)count;
    *a.batches += any;
  }
  for (int i = first_of_thread<int>(); i < a.channels; i += all_threads<int>()) {
    double sum = 0, squares = 0;
    for (int m = 0; m < a.members; ++m) sum += all[m * width + i] * all[m * width + 2 * a.channels];
    const double mean = sum / some;
    for (int m = 0; m < a.members; ++m) {
      const double* of = all + m * width;
      const double distance = of[i] - mean;
      squares += of[a.channels + i] + distance * distance * of[2 * a.channels];
    }
    const T variance = (T)(squares / some);
    T* running_mean = (T*)to.running_mean + i;
    T* running_var = (T*)to.running_var + i;
    ((T*)to.mean)[i] = (T)mean;
    ((T*)to.variance)[i] = variance;
    ((T*)to.inverse)[i] = (T)(1 / sqrt((double)variance + a.eps));
    *running_mean = between(*running_mean, (T)mean, share);
    *running_var = between(*running_var, (T)(squares / others), share);
  }
}

#define SYNC_NORM(type)                                                                      \
  extern "C" __global__ void sync_norm_pack_##type(const type* mean, const type* variance,   \
                                                   double* to, int channels, double count) { \
    sync_norm_pack<type>(mean, variance, to, channels, count);                               \
  }                                                                                          \
  extern "C" __global__ void sync_norm_join_##type(const double* all, SyncNormPlanes to,     \
                                                   SyncNormArguments arguments) {            \
    sync_norm_join<type>(all, to, arguments);                                                \
  }

WITH_FLOAT(SYNC_NORM(float))
WITH_DOUBLE(SYNC_NORM(double))
