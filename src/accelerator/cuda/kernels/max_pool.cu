// The largest number of each window (src/models/operators/max_pool.h), where channels are neighbors
// in memory; a thread takes four of them. `places` says which of its window's numbers it was, row
// by row. In the backward pass a place asks all windows that hold it, in one order: the same
// numbers in every run.
#include "max_pool.cuh"
#include "numbers.cuh"

/// Where four neighboring channels are in images of `height` x `width`.
struct PoolPlace {
  long long row;
  int y, x, channel;
};

__device__ inline PoolPlace pool_place(long long four, int height, int width, int channels) {
  PoolPlace p;
  p.channel = (int)(four % (channels / 4)) * 4;
  four /= channels / 4;
  p.x = (int)(four % width);
  four /= width;
  p.y = (int)(four % height);
  p.row = four / height;
  return p;
}

template <class T>
__device__ inline void max_pool(const T* input, T* output, unsigned char* places,
                                const MaxPoolArguments& a) {
  typedef typename WideOf<T>::type Wide;
  const long long fours = a.rows * a.out_height * a.out_width * (a.channels / 4);
  for (long long i = first_of_thread<long long>(); i < fours; i += all_threads<long long>()) {
    const PoolPlace p = pool_place(i, a.out_height, a.out_width, a.channels);
    const int top = p.y * a.stride - a.padding, left = p.x * a.stride - a.padding;
    Four<T> most;
    Four<unsigned char> at;
    bool is_first = true;
    for (int v = 0; v < a.kernel; ++v)
      for (int u = 0; u < a.kernel; ++u) {
        const int y = top + v, x = left + u;
        if (y < 0 || y >= a.height || x < 0 || x >= a.width) continue;
        const Four<T> some =
            *(const Four<T>*)(input + ((p.row * a.height + y) * a.width + x) * a.channels +
                              p.channel);
        for (int j = 0; j < 4; ++j) {
          const Wide number = widen(some.at[j]);
          if (!is_first && !(number > widen(most.at[j])) && number == number) continue;
          most.at[j] = some.at[j];
          at.at[j] = (unsigned char)(v * a.kernel + u);
        }
        is_first = false;
      }
    *(Four<T>*)(output + 4 * i) = most;
    *(Four<unsigned char>*)(places + 4 * i) = at;
  }
}

/// The first window that reaches a place, along one side, if it is not below 0.
__device__ inline int first_window(int place, const MaxPoolArguments& a) {
  const int from = place + a.padding - a.kernel + 1;
  return from <= 0 ? 0 : (from + a.stride - 1) / a.stride;
}

template <class T>
__device__ inline void max_pool_backward(const T* gradient, const unsigned char* places, T* to,
                                         const MaxPoolArguments& a) {
  typedef typename WideOf<T>::type Wide;
  const long long fours = a.rows * a.height * a.width * (a.channels / 4);
  for (long long i = first_of_thread<long long>(); i < fours; i += all_threads<long long>()) {
    const PoolPlace p = pool_place(i, a.height, a.width, a.channels);
    Wide sums[4] = {0, 0, 0, 0};
    for (int y = first_window(p.y, a); y < a.out_height && y * a.stride <= p.y + a.padding; ++y)
      for (int x = first_window(p.x, a); x < a.out_width && x * a.stride <= p.x + a.padding; ++x) {
        const int place =
            (p.y + a.padding - y * a.stride) * a.kernel + p.x + a.padding - x * a.stride;
        const long long from =
            ((p.row * a.out_height + y) * a.out_width + x) * a.channels + p.channel;
        const Four<unsigned char> at = *(const Four<unsigned char>*)(places + from);
        const Four<T> some = *(const Four<T>*)(gradient + from);
        for (int j = 0; j < 4; ++j)
          if (at.at[j] == place) sums[j] += widen(some.at[j]);
      }
    Four<T> result;
    for (int j = 0; j < 4; ++j) narrow(sums[j], result.at[j]);
    *(Four<T>*)(to + 4 * i) = result;
  }
}

#define MAX_POOL(name, type)                                                                      \
  extern "C" __global__ void max_pool_forward_##name(const type* input, type* output,             \
                                                     unsigned char* places, MaxPoolArguments a) { \
    max_pool<type>(input, output, places, a);                                                     \
  }                                                                                               \
  extern "C" __global__ void max_pool_backward_##name(                                            \
      const type* gradient, const unsigned char* places, type* to, MaxPoolArguments a) {          \
    max_pool_backward<type>(gradient, places, to, a);                                             \
  }

WITH_FLOAT(MAX_POOL(float, float))
WITH_DOUBLE(MAX_POOL(double, double))
WITH_BFLOAT16(MAX_POOL(bfloat16, BFloat16))
WITH_HALF(MAX_POOL(half, Half))
