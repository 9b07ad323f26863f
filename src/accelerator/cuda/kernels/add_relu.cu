// Sums of two lists of numbers, rounded to their type, and 0 where they are below
// (src/models/operators/add_relu.h). Each thread takes four neighbors in memory.
#include "numbers.cuh"

template <class T>
__device__ inline T sum_or_zero(T a, T b) {
  T sum;
  narrow(widen(a) + widen(b), sum);
  if (widen(sum) < 0) narrow((typename WideOf<T>::type)0, sum);
  return sum;
}

template <class T>
__device__ inline void add_relu(T* to, const T* from, Word64 count, int vectors) {
  const Word64 fours = (count + 3) / 4;
  for (Word64 i = first_of_thread<Word64>(); i < fours; i += all_threads<Word64>()) {
    const Word64 first = 4 * i;
    if (vectors && first + 4 <= count) {
      Four<T> sums = *(const Four<T>*)(to + first);
      const Four<T> added = *(const Four<T>*)(from + first);
      for (int j = 0; j < 4; ++j) sums.at[j] = sum_or_zero(sums.at[j], added.at[j]);
      *(Four<T>*)(to + first) = sums;
      continue;
    }
    for (Word64 at = first; at < count && at < first + 4; ++at)
      to[at] = sum_or_zero(to[at], from[at]);
  }
}

#define ADD_RELU(name, type)                                                                  \
  extern "C" __global__ void name(type* to, const type* from, long long count, int vectors) { \
    add_relu<type>(to, from, (Word64)count, vectors);                                         \
  }

WITH_FLOAT(ADD_RELU(add_relu_float, float))
WITH_DOUBLE(ADD_RELU(add_relu_double, double))
WITH_BFLOAT16(ADD_RELU(add_relu_bfloat16, BFloat16))
WITH_HALF(ADD_RELU(add_relu_half, Half))
