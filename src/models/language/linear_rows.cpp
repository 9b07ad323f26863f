#include "models/language/linear_rows.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/clones.h"
#include "base/error.h"

namespace ddptrain {
namespace {

/// 32 bytes of numbers: one register of AVX2. GCC 12 keeps wider ones in memory there.
template <class T>
struct LanesOf {
  typedef T Type __attribute__((vector_size(32)));
};
template <class T>
using Lanes = typename LanesOf<T>::Type;

template <class T>
constexpr std::int64_t kLanes = 32 / sizeof(T);

/// A product of rows and a part of a weight's outputs, all contiguous.
template <class T>
struct RowsProduct {
  T* to;          // [n, out]
  const T* rows;  // [n, in]
  const T* weight;
  const T* bias;  // may be null
  std::int64_t n, in, out;
};

// With fused multiply-adds, which cmake/Compiler.cmake leaves out elsewhere.
#pragma GCC push_options
#pragma GCC optimize("O3", "fp-contract=fast")

template <class T>
[[gnu::always_inline]] inline void load(Lanes<T>& lanes, const T* from) {
  std::memcpy(&lanes, from, sizeof lanes);
}

template <class T>
[[gnu::always_inline]] inline void load_some(Lanes<T>& lanes, const T* from, std::int64_t count) {
  lanes = Lanes<T>{};
  std::memcpy(&lanes, from, static_cast<std::size_t>(count) * sizeof(T));
}

/// In one order: halves are added until one number is left.
template <class T>
[[gnu::always_inline]] inline T sum_of(const Lanes<T>& lanes) {
  std::array<T, kLanes<T>> parts;
  std::memcpy(parts.data(), &lanes, sizeof lanes);
  for (std::size_t half = kLanes<T> / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) parts[i] += parts[i + half];
  return parts[0];
}

/// Adds the products of as many inputs as there are lanes.
template <int R, int O, class T>
[[gnu::always_inline]] inline void add_lanes(Lanes<T> (&sums)[R][O], const Lanes<T> (&x)[R],
                                             const Lanes<T>& w, int o) {
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) sums[r][o] += x[r] * w;
}

/// Dot products of R rows, from `row`, with O outputs, from `output`. Each is a sum over lanes in
/// the order of `in`, whatever R and O are.
template <int R, int O, class T>
[[gnu::always_inline]] inline void dot_tile(const RowsProduct<T>& p, std::int64_t row,
                                            std::int64_t output) {
  Lanes<T> sums[R][O] = {};
  Lanes<T> x[R], w;
  const T* rows = p.rows + row * p.in;
  const T* weight = p.weight + output * p.in;
  std::int64_t i = 0;
  for (; i + kLanes<T> <= p.in; i += kLanes<T>) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) load<T>(x[r], rows + r * p.in + i);
#pragma GCC unroll 8
    for (int o = 0; o < O; ++o) {
      load<T>(w, weight + o * p.in + i);
      add_lanes<R, O, T>(sums, x, w, o);
    }
  }
  if (i < p.in) {
    for (int r = 0; r < R; ++r) load_some<T>(x[r], rows + r * p.in + i, p.in - i);
#pragma GCC unroll 8
    for (int o = 0; o < O; ++o) {
      load_some<T>(w, weight + o * p.in + i, p.in - i);
      add_lanes<R, O, T>(sums, x, w, o);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int o = 0; o < O; ++o)
      p.to[(row + r) * p.out + output + o] =
          sum_of<T>(sums[r][o]) + (p.bias ? p.bias[output + o] : T(0));
}

/// R rows with `count` outputs, O at a time.
template <int R, int O, class T>
[[gnu::always_inline]] inline void dot_outputs(const RowsProduct<T>& p, std::int64_t row,
                                               std::int64_t output, std::int64_t count) {
  const auto end = output + count;
  for (; output + O <= end; output += O) dot_tile<R, O, T>(p, row, output);
  for (; output < end; ++output) dot_tile<R, 1, T>(p, row, output);
}

constexpr std::int64_t kOutputs = 8;  // whose weights stay in a near cache for all rows

/// Tiles of eight sums, whose additions need not wait for each other.
template <class T>
[[gnu::always_inline]] inline void dot_range(const RowsProduct<T>& p, std::int64_t begin,
                                             std::int64_t end) {
  for (auto output = begin; output < end; output += kOutputs) {
    const auto count = std::min(kOutputs, end - output);
    std::int64_t row = 0;
    for (; row + 4 <= p.n; row += 4) dot_outputs<4, 2>(p, row, output, count);
    for (; row + 2 <= p.n; row += 2) dot_outputs<2, 4>(p, row, output, count);
    if (row < p.n) dot_outputs<1, 8>(p, row, output, count);
  }
}

DDPTRAIN_CLONES void dot_products(const RowsProduct<float>& p, std::int64_t begin,
                                  std::int64_t end) {
  dot_range(p, begin, end);
}
DDPTRAIN_CLONES void dot_products(const RowsProduct<double>& p, std::int64_t begin,
                                  std::int64_t end) {
  dot_range(p, begin, end);
}

constexpr std::int64_t kBlock = 16;  // inputs whose products are summed before they are added

/// Outputs of some rows to which the products of some inputs are added.
struct AddedPart {
  std::int64_t row, output, first, count;
};

/// R rows, O times the lanes in outputs. Each output is a sum in the order of `in`, of blocks.
template <int R, int O, class T>
[[gnu::always_inline]] inline void add_tile(const RowsProduct<T>& p, const AddedPart& part) {
  Lanes<T> sums[R][O] = {};
  Lanes<T> w;
  const T* rows = p.rows + part.row * p.in + part.first;
  const T* weight = p.weight + part.first * p.out + part.output;
  for (std::int64_t i = 0; i < part.count; ++i, weight += p.out) {
#pragma GCC unroll 8
    for (int o = 0; o < O; ++o) {
      load<T>(w, weight + o * kLanes<T>);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sums[r][o] += rows[r * p.in + i] * w;
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int o = 0; o < O; ++o) {
      T* to = p.to + (part.row + r) * p.out + part.output + o * kLanes<T>;
      load<T>(w, to);
      w += sums[r][o];
      std::memcpy(to, &w, sizeof w);
    }
}

/// One row, the last `width` outputs, fewer than lanes.
template <class T>
[[gnu::always_inline]] inline void add_rest(const RowsProduct<T>& p, const AddedPart& part,
                                            std::int64_t width) {
  Lanes<T> sums = {}, w;
  const T* rows = p.rows + part.row * p.in + part.first;
  const T* weight = p.weight + part.first * p.out + part.output;
  for (std::int64_t i = 0; i < part.count; ++i, weight += p.out) {
    load_some<T>(w, weight, width);
    sums += rows[i] * w;
  }
  T* to = p.to + part.row * p.out + part.output;
  load_some<T>(w, to, width);
  w += sums;
  std::memcpy(to, &w, static_cast<std::size_t>(width) * sizeof(T));
}

/// Outputs of R rows, from part.output to `end`.
template <int R, int O, class T>
[[gnu::always_inline]] inline void add_rows(const RowsProduct<T>& p, AddedPart part,
                                            std::int64_t end) {
  for (; part.output + O * kLanes<T> <= end; part.output += O * kLanes<T>) add_tile<R, O>(p, part);
  for (; part.output + kLanes<T> <= end; part.output += kLanes<T>) add_tile<R, 1>(p, part);
  if (part.output == end) return;
  for (int r = 0; r < R; ++r, ++part.row) add_rest(p, part, end - part.output);
}

template <class T>
[[gnu::always_inline]] inline void add_range(const RowsProduct<T>& p, std::int64_t begin,
                                             std::int64_t end) {
  for (std::int64_t row = 0; row < p.n; ++row)
    for (auto o = begin; o < end; ++o) p.to[row * p.out + o] = p.bias ? p.bias[o] : T(0);
  AddedPart part{0, begin, 0, kBlock};
  for (; part.first < p.in; part.first += kBlock) {
    part.count = std::min(kBlock, p.in - part.first);
    for (part.row = 0; part.row + 4 <= p.n; part.row += 4) add_rows<4, 2>(p, part, end);
    for (; part.row + 2 <= p.n; part.row += 2) add_rows<2, 4>(p, part, end);
    if (part.row < p.n) add_rows<1, 8>(p, part, end);
  }
}

DDPTRAIN_CLONES void add_products(const RowsProduct<float>& p, std::int64_t begin,
                                  std::int64_t end) {
  add_range(p, begin, end);
}
DDPTRAIN_CLONES void add_products(const RowsProduct<double>& p, std::int64_t begin,
                                  std::int64_t end) {
  add_range(p, begin, end);
}

#pragma GCC pop_options

constexpr std::int64_t kWidth = 256;         // outputs of a block, which stays in the nearest cache
constexpr std::int64_t kProducts = 1 << 16;  // that a thread makes at least

using Operands = std::array<at::Tensor, 3>;  // rows, weight, bias

/// Begins of parts are multiples of kWidth, so that threads do not cut lanes.
template <class T>
at::Tensor product(const Operands& operands, bool transposed) {
  const auto& [rows, weight, bias] = operands;
  const auto out = weight.size(transposed ? 1 : 0);
  auto to = at::empty({rows.size(0), out}, rows.options());
  const RowsProduct<T> p{to.mutable_data_ptr<T>(),
                         rows.const_data_ptr<T>(),
                         weight.const_data_ptr<T>(),
                         bias.defined() ? bias.const_data_ptr<T>() : nullptr,
                         rows.size(0),
                         rows.size(1),
                         out};
  const auto parts = (out + kWidth - 1) / kWidth;
  const auto grain = std::max<std::int64_t>(1, kProducts / (p.n * p.in * kWidth + 1));
  at::parallel_for(0, parts, grain, [&](std::int64_t begin, std::int64_t end) {
    for (auto part = begin; part < end; ++part) {
      const auto last = std::min(out, (part + 1) * kWidth);
      transposed ? add_products(p, part * kWidth, last) : dot_products(p, part * kWidth, last);
    }
  });
  return to;
}

at::Tensor row_by_row(const at::Tensor& rows, const at::Tensor& weight, const at::Tensor& bias) {
  std::vector<at::Tensor> all;
  for (const auto& row : rows.split(1)) all.push_back(at::linear(row, weight, bias));
  return all.empty() ? at::linear(rows, weight, bias) : at::cat(all);
}

bool has_kernel(const at::Tensor& rows, const at::Tensor& weight) {
  const auto type = rows.scalar_type();
  return rows.is_cpu() && (type == at::kFloat || type == at::kDouble) &&
         weight.scalar_type() == type;
}

at::Tensor product_of(const at::Tensor& rows, const at::Tensor& weight, const at::Tensor& bias,
                      bool transposed) {
  DDP_CHECK(rows.dim() == 2 && rows.size(1) == weight.size(transposed ? 0 : 1),
            "rows and weight do not fit");
  const at::NoGradGuard no_grad;
  if (!has_kernel(rows, weight)) return row_by_row(rows, transposed ? weight.t() : weight, bias);
  const Operands operands{rows.contiguous(), weight.contiguous(),
                          bias.defined() ? bias.contiguous() : bias};
  return rows.scalar_type() == at::kFloat ? product<float>(operands, transposed)
                                          : product<double>(operands, transposed);
}

}  // namespace

at::Tensor linear_rows(const at::Tensor& rows, const at::Tensor& weight, const at::Tensor& bias) {
  return product_of(rows, weight, bias, /*transposed=*/false);
}

at::Tensor conv1d_rows(const at::Tensor& rows, const at::Tensor& weight, const at::Tensor& bias) {
  return product_of(rows, weight, bias, /*transposed=*/true);
}

}  // namespace ddptrain
