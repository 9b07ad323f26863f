#include "models/layers/dropout_mask.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/error.h"

namespace ddptrain {
namespace {

constexpr std::uint64_t first_factor = 0xD2511F53, second_factor = 0xCD9E8D57;
constexpr std::uint32_t first_bump = 0x9E3779B9, second_bump = 0xBB67AE85;

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

std::uint64_t threshold(double p) { return static_cast<std::uint64_t>(std::ldexp(p, 32)); }

// Philox (base/random.h) in place, its rounds unrolled and inlined: three times as fast.
[[gnu::always_inline]] inline void philox_in_place(std::uint32_t& c0, std::uint32_t& c1,
                                                   std::uint32_t& c2, std::uint32_t& c3,
                                                   std::uint64_t key) {
  auto k0 = low(key), k1 = high(key);
#pragma GCC unroll 10
  for (int n = 0; n < 10; ++n, k0 += first_bump, k1 += second_bump) {
    const std::uint64_t a = first_factor * c0, b = second_factor * c2;
    c0 = high(b) ^ c1 ^ k0;
    c2 = high(a) ^ c3 ^ k1;
    c1 = low(b);
    c3 = low(a);
  }
}

// Rows are padded to whole blocks of four.
template <class T>
void fill_row(T* to, std::int64_t blocks, std::uint32_t row, const MaskRows& rows,
              std::uint64_t below, T scale) {
  const auto key = rows.key;
  const auto step = low(static_cast<std::uint64_t>(rows.step));
  const T choice[] = {scale, 0};  // a look-up: branches on random bits are slow
  for (std::int64_t block = 0; block < blocks; ++block, to += 4) {
    std::uint32_t c0 = low(static_cast<std::uint64_t>(block)), c1 = row, c2 = step, c3 = 0;
    philox_in_place(c0, c1, c2, c3, key);
    to[0] = choice[c0 < below];
    to[1] = choice[c1 < below];
    to[2] = choice[c2 < below];
    to[3] = choice[c3 < below];
  }
}

template <class T>
void fill(T* to, std::int64_t blocks, const MaskRows& rows, double p, double scale) {
  const auto grain = std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, blocks));
  at::parallel_for(0, rows.rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (auto r = begin; r < end; ++r)
      fill_row(to + r * 4 * blocks, blocks, low(static_cast<std::uint64_t>(rows.position(r))), rows,
               threshold(p), static_cast<T>(scale));
  });
}

// 32-bit words in 64-bit integers; a product that overflows keeps the bits of the unsigned one.
struct Halves {
  at::Tensor low, high;
};
Halves multiply(const at::Tensor& word, std::uint64_t factor) {
  const auto product = word.mul(static_cast<std::int64_t>(factor));
  return {product.bitwise_and(0xFFFFFFFF),
          product.bitwise_right_shift(32).bitwise_and_(0xFFFFFFFF)};
}

std::array<at::Tensor, 4> philox_words(std::array<at::Tensor, 4> c, std::uint64_t key) {
  auto k0 = low(key), k1 = high(key);
  for (int n = 0; n < 10; ++n, k0 += first_bump, k1 += second_bump) {
    const auto a = multiply(c[0], first_factor), b = multiply(c[2], second_factor);
    c = {b.high.bitwise_xor(c[1]).bitwise_xor(static_cast<std::int64_t>(k0)), b.low,
         a.high.bitwise_xor(c[3]).bitwise_xor(static_cast<std::int64_t>(k1)), a.low};
  }
  return c;
}

at::Tensor row_numbers(const MaskRows& rows, at::Device device) {
  if (!rows.positions.empty()) return at::tensor(rows.positions, at::kLong).to(device);
  return at::arange(rows.first_row, rows.first_row + rows.rows,
                    at::TensorOptions().dtype(at::kLong).device(device));
}

}  // namespace

MaskRows mask_rows(const Pass& pass, std::uint64_t key, std::int64_t rows, std::int64_t elements) {
  DDP_CHECK(pass.positions.empty() || std::ssize(pass.positions) == rows,
            "a position for each row");
  return {key, pass.step, pass.first_row, rows, elements, pass.positions};
}

at::Tensor dropout_mask(const MaskRows& rows, double p, double scale, at::ScalarType type) {
  const bool wide = type == at::kDouble;
  const auto blocks = (rows.elements + 3) / 4;
  const auto mask = at::empty({rows.rows, 4 * blocks}, wide ? at::kDouble : at::kFloat);
  if (wide)
    fill(mask.mutable_data_ptr<double>(), blocks, rows, p, scale);
  else
    fill(mask.mutable_data_ptr<float>(), blocks, rows, p, scale);
  return mask.narrow(1, 0, rows.elements).to(type);
}

at::Tensor dropout_mask_on(at::Device device, const MaskRows& rows, double p, double scale,
                           at::ScalarType type) {
  const auto options = at::TensorOptions().dtype(at::kLong).device(device);
  const auto blocks = (rows.elements + 3) / 4;
  const std::vector<std::int64_t> shape = {rows.rows, blocks};
  const auto row = row_numbers(rows, device);
  const auto words =
      philox_words({at::arange(blocks, options).expand(shape), row.unsqueeze(1).expand(shape),
                    at::full(shape, rows.step, options), at::full(shape, 0, options)},
                   rows.key);
  const auto drawn = at::stack({words[0], words[1], words[2], words[3]}, 2)
                         .view({rows.rows, 4 * blocks})
                         .narrow(1, 0, rows.elements);
  return drawn.ge(static_cast<std::int64_t>(threshold(p))).to(type).mul_(scale);
}

at::Tensor dropout_mask_for(const at::Tensor& input, const MaskRows& rows, double p) {
  const double scale = p < 1 ? 1 / (1 - p) : 0;
  if (input.is_cpu()) return dropout_mask(rows, p, scale, input.scalar_type());
  return dropout_mask_on(input.device(), rows, p, scale, input.scalar_type());
}

}  // namespace ddptrain
