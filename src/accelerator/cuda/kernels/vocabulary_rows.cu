// Cross entropy over a vocabulary (src/losses/vocabulary_rows.h): one pass over a row of scores
// finds the logarithm of the sum of exponentials about a running maximum (Milakov and Gimelshein,
// 2018), another makes gradients of them in place. Every sum has one order.
#include "numbers.cuh"
#include "vocabulary_rows.cuh"

constexpr int kFours = 4;  // that a thread reads at once

__device__ inline float exponential(float x) { return expf(x); }
__device__ inline double exponential(double x) { return exp(x); }
__device__ inline float logarithm(float x) { return logf(x); }
__device__ inline double logarithm(double x) { return log(x); }
__device__ inline float tangent(float x) { return tanhf(x); }
__device__ inline double tangent(double x) { return tanh(x); }

template <class Wide>
__device__ inline Wide capped(Wide score, double cap) {
  return cap > 0 ? (Wide)cap * tangent(score / (Wide)cap) : score;
}

/// Of some scores: exponentials of them less `most`, summed; and their plain sum.
template <class Wide>
struct RowSums {
  Wide most, exponentials, plain;
};

template <class Wide>
__device__ inline RowSums<Wide> joined(const RowSums<Wide>& a, const RowSums<Wide>& b) {
  const Wide most = a.most > b.most ? a.most : b.most;
  return {most,
          a.exponentials * exponential(a.most - most) + b.exponentials * exponential(b.most - most),
          a.plain + b.plain};
}

template <class T, class Wide>
__device__ inline void add_four(RowSums<Wide>& sums, const Four<T>& four, int count, double cap) {
  Wide scores[4], most = sums.most;
  for (int j = 0; j < 4 && j < count; ++j) {
    scores[j] = capped(widen(four.at[j]), cap);
    if (scores[j] > most) most = scores[j];
  }
  sums.exponentials *= exponential(sums.most - most);
  sums.most = most;
  for (int j = 0; j < 4 && j < count; ++j) {
    sums.exponentials += exponential(scores[j] - most);
    sums.plain += scores[j];
  }
}

/// Calls `turn` with each four of this thread in a row, kFours read at once.
template <class T, class Turn>
__device__ inline void each_four(const T* row, int vocabulary, const Turn& turn) {
  const int hop = 4 * kVocabularyThreads;
  int at = 4 * (int)threadIdx.x;
  for (; at + (kFours - 1) * hop + 4 <= vocabulary; at += kFours * hop) {
    Four<T> some[kFours];
    UNROLL
    for (int k = 0; k < kFours; ++k) some[k] = *(const Four<T>*)(row + at + k * hop);
    UNROLL
    for (int k = 0; k < kFours; ++k) turn(at + k * hop, some[k], 4);
  }
  for (; at < vocabulary; at += hop) turn(at, *(const Four<T>*)(row + at), vocabulary - at);
}

template <class T, class Wide>
struct AddFours {
  RowSums<Wide>& sums;
  double cap;
  __device__ inline void operator()(int, const Four<T>& four, int count) const {
    add_four(sums, four, count, cap);
  }
};

template <class T>
__device__ inline void values_of_rows(const T* scores, const long long* labels,
                                      typename WideOf<T>::type* values,
                                      typename WideOf<T>::type* normalizers,
                                      const VocabularyArguments& a) {
  typedef typename WideOf<T>::type Wide;
  __shared__ RowSums<Wide> all[kVocabularyThreads];
  for (long long row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const T* mine = scores + row * a.width;
    RowSums<Wide> sums = {(Wide)-3e38, 0, 0};
    each_four(mine, a.vocabulary, AddFours<T, Wide>{sums, a.soft_cap});
    all[threadIdx.x] = sums;
    __syncthreads();
    for (int half = kVocabularyThreads / 2; half > 0; half /= 2) {
      if ((int)threadIdx.x < half)
        all[threadIdx.x] = joined(all[threadIdx.x], all[threadIdx.x + half]);
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      const Wide normalizer = all[0].most + logarithm(all[0].exponentials);
      const Wide smoothing = (Wide)a.label_smoothing;
      Wide value = normalizer - capped(widen(mine[labels[row]]), a.soft_cap);
      if (a.label_smoothing > 0)
        value =
            (1 - smoothing) * value + smoothing * (normalizer - all[0].plain / (Wide)a.vocabulary);
      values[row] = value + (Wide)a.z_loss * normalizer * normalizer;
      normalizers[row] = normalizer;
    }
    __syncthreads();
  }
}

template <class T, class Wide>
struct SlopesOfFours {
  T* row;
  Wide normalizer, each;
  long long label;
  const VocabularyArguments& a;

  __device__ inline void operator()(int at, const Four<T>& four, int count) const {
    const Wide smoothing = (Wide)a.label_smoothing;
    Four<T> slopes;
    for (int j = 0; j < 4; ++j) {
      Wide slope = 0;
      if (j < count) {
        const Wide score = capped(widen(four.at[j]), a.soft_cap);
        slope = exponential(score - normalizer);
        if (a.z_loss > 0) slope *= 1 + 2 * (Wide)a.z_loss * normalizer;
        if (a.label_smoothing > 0) slope -= smoothing / (Wide)a.vocabulary;
        if (at + j == label) slope -= 1 - smoothing;
        if (a.soft_cap > 0) {
          const Wide part = score / (Wide)a.soft_cap;
          slope *= 1 - part * part;
        }
        slope *= each;
      }
      narrow(slope, slopes.at[j]);
    }
    *(Four<T>*)(row + at) = slopes;
  }
};

/// A thread writes where it alone has read.
template <class T>
__device__ inline void slopes_of_rows(T* scores, const long long* labels,
                                      const typename WideOf<T>::type* normalizers,
                                      const typename WideOf<T>::type* each,
                                      const VocabularyArguments& a) {
  typedef typename WideOf<T>::type Wide;
  for (long long row = blockIdx.x; row < a.rows; row += gridDim.x) {
    T* mine = scores + row * a.width;
    each_four((const T*)mine, a.vocabulary,
              SlopesOfFours<T, Wide>{mine, normalizers[row], each[row], labels[row], a});
    for (int at = (a.vocabulary + 3) / 4 * 4 + (int)threadIdx.x; at < a.width;
         at += kVocabularyThreads)
      narrow((Wide)0, mine[at]);
  }
}

#define VOCABULARY_ROWS(name, type, wide)                                                          \
  extern "C" __global__ void vocabulary_values_##name(const type* scores, const long long* labels, \
                                                      wide* values, wide* normalizers,             \
                                                      VocabularyArguments a) {                     \
    values_of_rows<type>(scores, labels, values, normalizers, a);                                  \
  }                                                                                                \
  extern "C" __global__ void vocabulary_slopes_##name(type* scores, const long long* labels,       \
                                                      const wide* normalizers, const wide* each,   \
                                                      VocabularyArguments a) {                     \
    slopes_of_rows<type>(scores, labels, normalizers, each, a);                                    \
  }

WITH_FLOAT(VOCABULARY_ROWS(float, float, float))
WITH_DOUBLE(VOCABULARY_ROWS(double, double, double))
WITH_BFLOAT16(VOCABULARY_ROWS(bfloat16, BFloat16, float))
WITH_HALF(VOCABULARY_ROWS(half, Half, float))
