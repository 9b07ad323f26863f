// relu((x - mean) / sqrt(variance + eps) * weight + bias + residual), rounded once
// (src/models/operators/batch_norm.h). Each thread takes four neighbors in memory, which are of
// one channel, or of four where channels are neighbors.
#include "batch_norm_relu.cuh"
#include "numbers.cuh"

template <class Wide>
struct OfChannel {
  Wide mean, slope, bias;
};

template <class Wide>
__device__ inline Wide number_at(const void* plane, long long channel) {
  return ((const Wide*)plane)[channel];
}

template <class Wide>
__device__ inline Wide inverse_deviation(const NormPlanes& planes, long long channel, double eps) {
  return (Wide)1 / square_root(number_at<Wide>(planes.variance, channel) + (Wide)eps);
}

template <class Wide>
__device__ inline OfChannel<Wide> of_channel(const NormPlanes& planes, long long channel,
                                             double eps) {
  const Wide inverse = inverse_deviation<Wide>(planes, channel, eps);
  return {number_at<Wide>(planes.mean, channel),
          planes.weight ? inverse * number_at<Wide>(planes.weight, channel) : inverse,
          planes.bias ? number_at<Wide>(planes.bias, channel) : (Wide)0};
}

// NaN stays NaN.
template <class T, class Wide>
__device__ inline T normed_or_zero(T x, const OfChannel<Wide>& of, Wide residual) {
  const Wide y = (widen(x) - of.mean) * of.slope + of.bias + residual;
  T to;
  narrow(y < 0 ? (Wide)0 : y, to);
  return to;
}

template <class T, class Index>
__device__ inline void norm_relu(const T* from, const T* residual, T* to, const NormPlanes& planes,
                                 const NormArguments& a) {
  typedef typename WideOf<T>::type Wide;
  const Index count = (Index)a.count, channels = (Index)a.channels, inner = (Index)a.inner;
  OfChannel<Wide> of[4];  // of these neighbors
  Index held = channels;  // the channel of the first
  for (Index i = first_of_thread<Index>(); i < (count + 3) / 4; i += all_threads<Index>()) {
    const Index first = 4 * i, channel = first / inner % channels;
    if (!a.vectors || channel != held)
      for (int j = 0; j < 4; ++j)
        of[j] = of_channel<Wide>(planes, (first + j) / inner % channels, a.eps);
    held = channel;
    if (a.vectors) {
      Four<T> four = *(const Four<T>*)(from + first), added = four;
      if (residual) added = *(const Four<T>*)(residual + first);
      for (int j = 0; j < 4; ++j)
        four.at[j] = normed_or_zero(four.at[j], of[j], residual ? widen(added.at[j]) : (Wide)0);
      *(Four<T>*)(to + first) = four;
      continue;
    }
    for (int j = 0; j < 4 && first + j < count; ++j)
      to[first + j] =
          normed_or_zero(from[first + j], of[j], residual ? widen(residual[first + j]) : (Wide)0);
  }
  if (!planes.inverse) return;
  for (Index c = first_of_thread<Index>(); c < channels; c += all_threads<Index>())
    ((Wide*)planes.inverse)[c] = inverse_deviation<Wide>(planes, c, a.eps);
}

#define BATCH_NORM_RELU(name, type)                                                 \
  extern "C" __global__ void name(const type* from, const type* residual, type* to, \
                                  NormPlanes planes, NormArguments a) {             \
    if (a.small)                                                                    \
      norm_relu<type, unsigned>(from, residual, to, planes, a);                     \
    else                                                                            \
      norm_relu<type, Word64>(from, residual, to, planes, a);                       \
  }

WITH_FLOAT(BATCH_NORM_RELU(batch_norm_relu_float, float))
WITH_DOUBLE(BATCH_NORM_RELU(batch_norm_relu_double, double))
WITH_BFLOAT16(BATCH_NORM_RELU(batch_norm_relu_bfloat16, BFloat16))
WITH_HALF(BATCH_NORM_RELU(batch_norm_relu_half, Half))
