// Dropout: the input times 0 or 1 / (1 - p), element by element as Philox 4x32-10 draws
// (src/models/operators/dropout_mask.h). Each thread takes the four elements of a block of words.
#include "dropout.cuh"
#include "numbers.cuh"

struct Words {
  unsigned at[4];
};

__device__ inline Words philox(unsigned block, unsigned row, unsigned step, Word64 key) {
  unsigned c0 = block, c1 = row, c2 = step, c3 = 0;
  unsigned k0 = (unsigned)key, k1 = (unsigned)(key >> 32);
  for (int n = 0; n < 10; ++n, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
    const unsigned high0 = __umulhi(0xD2511F53, c0), low0 = 0xD2511F53 * c0;
    const unsigned high2 = __umulhi(0xCD9E8D57, c2), low2 = 0xCD9E8D57 * c2;
    c0 = high2 ^ c1 ^ k0;
    c1 = low2;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
  }
  return {{c0, c1, c2, c3}};
}

// Neighboring threads take neighboring channels where the memory has them so.
template <class Index>
__device__ inline Index block_of(Index number, const DropoutArguments& a) {
  const Index inner = (Index)a.inner, elements = (Index)a.elements;
  if (inner == elements || inner % 4 != 0) return number;
  const Index outer = elements / inner;
  return number % outer * (inner / 4) + number / outer;
}

template <class T, class Wide>
__device__ inline T product(T x, unsigned word, const DropoutArguments& a, Wide dropped,
                            Wide kept) {
  T to;
  narrow(widen(x) * (word <= a.last ? dropped : kept), to);
  return to;
}

// A factor as the type has it.
template <class T>
__device__ inline typename WideOf<T>::type factor(double value) {
  T rounded;
  narrow((typename WideOf<T>::type)value, rounded);
  return widen(rounded);
}

template <class T, class Index>
__device__ inline void drop_blocks(const T* from, T* to, const long long* positions,
                                   const DropoutArguments& a) {
  const typename WideOf<T>::type dropped = factor<T>(a.dropped), kept = factor<T>(a.kept);
  const unsigned step = a.step_there ? (unsigned)*a.step_there : a.step;
  const Index elements = (Index)a.elements, inner = (Index)a.inner, repeats = (Index)a.repeats;
  const Index blocks = (elements + 3) / 4, all = (Index)a.rows * repeats * blocks;
  for (Index i = first_of_thread<Index>(); i < all; i += all_threads<Index>()) {
    const Index line = i / blocks, row = line / repeats, block = block_of(i % blocks, a);
    const unsigned position = positions ? (unsigned)positions[row] : a.first_row + (unsigned)row;
    Words words = philox(a.one_word ? 0 : (unsigned)block, position, step, a.key);
    if (a.one_word) words.at[1] = words.at[2] = words.at[3] = words.at[0];
    const long long base = row * a.row_stride + line % repeats * a.repeat_stride;
    if (a.vectors) {
      Four<T> four = *(const Four<T>*)(from + base + 4 * block);
      for (int j = 0; j < 4; ++j) four.at[j] = product(four.at[j], words.at[j], a, dropped, kept);
      *(Four<T>*)(to + base + 4 * block) = four;
      continue;
    }
    for (Index j = 0, e = 4 * block; j < 4 && e < elements; ++j, ++e) {
      const long long at = base + e / inner * a.outer_stride + e % inner * a.inner_stride;
      to[at] = product(from[at], words.at[j], a, dropped, kept);
    }
  }
}

#define DROPOUT(name, type)                                                               \
  extern "C" __global__ void name(const type* from, type* to, const long long* positions, \
                                  DropoutArguments a) {                                   \
    if (a.small)                                                                          \
      drop_blocks<type, unsigned>(from, to, positions, a);                                \
    else                                                                                  \
      drop_blocks<type, Word64>(from, to, positions, a);                                  \
  }

WITH_FLOAT(DROPOUT(dropout_float, float))
WITH_DOUBLE(DROPOUT(dropout_double, double))
WITH_BFLOAT16(DROPOUT(dropout_bfloat16, BFloat16))
WITH_HALF(DROPOUT(dropout_half, Half))
