#include "models/operators/dense_kernels.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/clones.h"

namespace ddptrain::dense {
namespace {

constexpr std::int64_t kColumnBlock = 64;   // columns whose sums stay in registers or the cache
constexpr std::int64_t kGrain = 32 * 1024;  // numbers that are worth a thread

/// body(first, last) of columns, in blocks.
template <class Body>
void over_columns(std::int64_t rows, std::int64_t width, const Body& body) {
  const auto blocks = (width + kColumnBlock - 1) / kColumnBlock;
  const auto grain =
      std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, rows * kColumnBlock));
  at::parallel_for(0, blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (auto b = begin; b < end; ++b)
      body(b * kColumnBlock, std::min(width, (b + 1) * kColumnBlock));
  });
}

using Sums = std::array<double, kColumnBlock>;

// With fused multiply-adds, which cmake/Compiler.cmake leaves out elsewhere.
#pragma GCC push_options
#pragma GCC optimize("O3", "fp-contract=fast")

// Each body is compiled for several instruction sets: see DDPTRAIN_CLONES.
#define DDPTRAIN_BODY \
  template <class T>  \
  [[gnu::always_inline]] inline void

DDPTRAIN_BODY add_bias_body(T* row, const T* bias, std::int64_t width) {
  for (std::int64_t c = 0; c < width; ++c) row[c] += bias[c];
}

DDPTRAIN_BODY relu_body(T* to, const T* from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i] < 0 ? T(0) : from[i];
}

DDPTRAIN_BODY relu_backward_body(T* gradient, const T* output, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) gradient[i] = output[i] <= 0 ? T(0) : gradient[i];
}

DDPTRAIN_BODY sum_body(Sums& sums, const Rows<const T>& rows, std::int64_t first,
                       std::int64_t count) {
  sums.fill(0);
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    const T* row = rows.data + r * rows.stride + first;
    for (std::int64_t c = 0; c < count; ++c) sums[static_cast<std::size_t>(c)] += row[c];
  }
}

DDPTRAIN_BODY squares_body(Sums& sums, const double* mean, const Rows<const T>& rows,
                           std::int64_t first, std::int64_t count) {
  sums.fill(0);
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    const T* row = rows.data + r * rows.stride + first;
    for (std::int64_t c = 0; c < count; ++c) {
      const double off = row[c] - mean[first + c];
      sums[static_cast<std::size_t>(c)] += off * off;
    }
  }
}

DDPTRAIN_BODY dots_body(Sums& sums, Sums& dots, const double* mean, const Rows<T>& gradient,
                        const Rows<const T>& input, std::int64_t first, std::int64_t count) {
  sums.fill(0);
  dots.fill(0);
  for (std::int64_t r = 0; r < input.rows; ++r) {
    const T* dy = gradient.data + r * gradient.stride + first;
    const T* x = input.data + r * input.stride + first;
    for (std::int64_t c = 0; c < count; ++c) {
      sums[static_cast<std::size_t>(c)] += dy[c];
      dots[static_cast<std::size_t>(c)] += dy[c] * (x[c] - mean[first + c]);
    }
  }
}

/// Of a column: y = (x - mean) * scale + bias.
template <class T>
struct Lines {
  std::array<T, kColumnBlock> mean, scale, bias;
};

DDPTRAIN_BODY lines_body(const Rows<T>& output, const Rows<const T>& input, const Lines<T>& lines,
                         std::int64_t first, std::int64_t count) {
  for (std::int64_t r = 0; r < input.rows; ++r) {
    T* y = output.data + r * output.stride + first;
    const T* x = input.data + r * input.stride + first;
    for (std::int64_t c = 0; c < count; ++c) {
      const auto i = static_cast<std::size_t>(c);
      y[c] = (x[c] - lines.mean[i]) * lines.scale[i] + lines.bias[i];
    }
  }
}

/// Of a column: dx = (dy - mean of dy - (x - mean) * slope) * scale.
template <class T>
struct Backward {
  std::array<T, kColumnBlock> offset, mean, slope, scale;
};

DDPTRAIN_BODY backward_body(const Rows<T>& gradient, const Rows<const T>& input,
                            const Backward<T>& of, std::int64_t first, std::int64_t count) {
  for (std::int64_t r = 0; r < input.rows; ++r) {
    T* dy = gradient.data + r * gradient.stride + first;
    const T* x = input.data + r * input.stride + first;
    for (std::int64_t c = 0; c < count; ++c) {
      const auto i = static_cast<std::size_t>(c);
      dy[c] = (dy[c] - of.offset[i] - (x[c] - of.mean[i]) * of.slope[i]) * of.scale[i];
    }
  }
}

#undef DDPTRAIN_BODY

// Templates have no clones: an overload for each type.
#define DDPTRAIN_KERNELS(T)                                                                      \
  DDPTRAIN_CLONES void add_bias_of(T* row, const T* bias, std::int64_t width) {                  \
    add_bias_body(row, bias, width);                                                             \
  }                                                                                              \
  DDPTRAIN_CLONES void relu_of(T* to, const T* from, std::int64_t count) {                       \
    relu_body(to, from, count);                                                                  \
  }                                                                                              \
  DDPTRAIN_CLONES void relu_backward_of(T* gradient, const T* output, std::int64_t count) {      \
    relu_backward_body(gradient, output, count);                                                 \
  }                                                                                              \
  DDPTRAIN_CLONES void sum_of(Sums& sums, const Rows<const T>& rows, std::int64_t first,         \
                              std::int64_t count) {                                              \
    sum_body(sums, rows, first, count);                                                          \
  }                                                                                              \
  DDPTRAIN_CLONES void squares_of(Sums& sums, const double* mean, const Rows<const T>& rows,     \
                                  std::int64_t first, std::int64_t count) {                      \
    squares_body(sums, mean, rows, first, count);                                                \
  }                                                                                              \
  DDPTRAIN_CLONES void dots_of(Sums& sums, Sums& dots, const double* mean,                       \
                               const Rows<T>& gradient, const Rows<const T>& input,              \
                               std::int64_t first, std::int64_t count) {                         \
    dots_body(sums, dots, mean, gradient, input, first, count);                                  \
  }                                                                                              \
  DDPTRAIN_CLONES void lines_of(const Rows<T>& output, const Rows<const T>& input,               \
                                const Lines<T>& lines, std::int64_t first, std::int64_t count) { \
    lines_body(output, input, lines, first, count);                                              \
  }                                                                                              \
  DDPTRAIN_CLONES void backward_of(const Rows<T>& gradient, const Rows<const T>& input,          \
                                   const Backward<T>& of, std::int64_t first,                    \
                                   std::int64_t count) {                                         \
    backward_body(gradient, input, of, first, count);                                            \
  }
DDPTRAIN_KERNELS(float)
DDPTRAIN_KERNELS(double)
#undef DDPTRAIN_KERNELS

#pragma GCC pop_options

template <class T>
void normalize_block(const Rows<T>& output, const Rows<const T>& input,
                     const BatchNormColumns<T>& norm, std::int64_t first, std::int64_t last) {
  const auto rows = static_cast<double>(input.rows);
  Sums sums;
  sum_of(sums, input, first, last - first);
  for (auto c = first; c < last; ++c)
    norm.mean[c] = sums[static_cast<std::size_t>(c - first)] / rows;
  squares_of(sums, norm.mean, input, first, last - first);
  Lines<T> lines;
  for (auto c = first; c < last; ++c) {
    const auto i = static_cast<std::size_t>(c - first);
    norm.inverse[c] = 1 / std::sqrt(sums[i] / rows + norm.eps);
    lines.mean[i] = static_cast<T>(norm.mean[c]);
    lines.scale[i] = static_cast<T>(norm.inverse[c] * (norm.weight ? norm.weight[c] : T(1)));
    lines.bias[i] = norm.bias ? norm.bias[c] : T(0);
    const auto move = [&](T& running, double value) {
      running = static_cast<T>(norm.momentum * value + (1 - norm.momentum) * running);
    };
    move(norm.running_mean[c], norm.mean[c]);
    move(norm.running_var[c], sums[i] / (rows - 1));
  }
  lines_of(output, input, lines, first, last - first);
}

}  // namespace

template <class T>
void add_bias(const Rows<T>& rows, const T* bias) {
  if (bias == nullptr) return;
  const auto grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, rows.width));
  at::parallel_for(0, rows.rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (auto r = begin; r < end; ++r) add_bias_of(rows.data + r * rows.stride, bias, rows.width);
  });
}

template <class T>
void relu(T* to, const T* from, std::int64_t count) {
  at::parallel_for(0, count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    relu_of(to + begin, from + begin, end - begin);
  });
}

template <class T>
void relu_backward(T* gradient, const T* output, std::int64_t count) {
  at::parallel_for(0, count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    relu_backward_of(gradient + begin, output + begin, end - begin);
  });
}

template <class T>
void column_sums(T* sums, const Rows<const T>& rows) {
  over_columns(rows.rows, rows.width, [&](std::int64_t first, std::int64_t last) {
    Sums of;
    sum_of(of, rows, first, last - first);
    for (auto c = first; c < last; ++c)
      sums[c] = static_cast<T>(of[static_cast<std::size_t>(c - first)]);
  });
}

template <class T>
void batch_norm(const Rows<T>& output, const Rows<const T>& input,
                const BatchNormColumns<T>& norm) {
  over_columns(input.rows, input.width, [&](std::int64_t first, std::int64_t last) {
    normalize_block(output, input, norm, first, last);
  });
}

template <class T>
void batch_norm_backward(const Rows<T>& gradient, const Rows<const T>& input, const T* weight,
                         const double* mean, const double* inverse, T* weight_gradient,
                         T* bias_gradient) {
  const auto rows = static_cast<double>(input.rows);
  over_columns(input.rows, input.width, [&](std::int64_t first, std::int64_t last) {
    Sums sums, dots;
    dots_of(sums, dots, mean, gradient, input, first, last - first);
    Backward<T> of;
    for (auto c = first; c < last; ++c) {
      const auto i = static_cast<std::size_t>(c - first);
      if (weight_gradient) weight_gradient[c] = static_cast<T>(dots[i] * inverse[c]);
      if (bias_gradient) bias_gradient[c] = static_cast<T>(sums[i]);
      of.offset[i] = static_cast<T>(sums[i] / rows);
      of.mean[i] = static_cast<T>(mean[c]);
      of.slope[i] = static_cast<T>(inverse[c] * inverse[c] * dots[i] / rows);
      of.scale[i] = static_cast<T>(inverse[c] * (weight ? weight[c] : T(1)));
    }
    backward_of(gradient, input, of, first, last - first);
  });
}

#define DDPTRAIN_FOR(T)                                                                            \
  template void add_bias(const Rows<T>&, const T*);                                                \
  template void relu(T*, const T*, std::int64_t);                                                  \
  template void relu_backward(T*, const T*, std::int64_t);                                         \
  template void column_sums(T*, const Rows<const T>&);                                             \
  template void batch_norm(const Rows<T>&, const Rows<const T>&, const BatchNormColumns<T>&);      \
  template void batch_norm_backward(const Rows<T>&, const Rows<const T>&, const T*, const double*, \
                                    const double*, T*, T*);
DDPTRAIN_FOR(float)
DDPTRAIN_FOR(double)
#undef DDPTRAIN_FOR

}  // namespace ddptrain::dense
