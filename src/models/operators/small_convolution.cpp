#include "models/operators/small_convolution.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <vector>

#include "autograd/function.h"

namespace ddptrain {
namespace {

/// Along one axis: output `out + i` meets input `in + i`, for each i below `count`.
struct Overlap {
  std::int64_t out, in, count;
};

Overlap overlap_of(std::int64_t offset, std::int64_t size) {
  return {std::max<std::int64_t>(0, -offset), std::max<std::int64_t>(0, offset),
          std::max<std::int64_t>(0, size - std::abs(offset))};
}

/// A number of the kernel in each map and channel, and where it is in the kernel.
struct Tap {
  std::int64_t row, column;
  Overlap y, x;
};

/// The middle one first, which meets every pixel. Those that meet none are left out.
std::vector<Tap> taps_of(std::int64_t height, std::int64_t width, std::int64_t kernel) {
  const auto middle = kernel / 2;
  std::vector<Tap> all;
  for (std::int64_t row = 0; row < kernel; ++row)
    for (std::int64_t column = 0; column < kernel; ++column) {
      const Tap tap{row, column, overlap_of(row - middle, height),
                    overlap_of(column - middle, width)};
      if (tap.y.count == 0 || tap.x.count == 0) continue;
      all.insert(row == middle && column == middle ? all.begin() : all.end(), tap);
    }
  return all;
}

/// [rows, channels, height, width] as [height, width, rows, channels].
at::Tensor pixels_first(const at::Tensor& maps) { return maps.permute({2, 3, 0, 1}).contiguous(); }

/// The reverse, with memory of its own, so that what follows may overwrite it.
at::Tensor rows_first(const at::Tensor& pixels, at::MemoryFormat layout) {
  const auto maps = pixels.permute({2, 3, 0, 1});
  return at::empty(maps.sizes(), maps.options().memory_format(layout)).copy_(maps);
}

/// [pixels * rows, channels] of `count` pixels of a line.
at::Tensor pixels_of_line(const at::Tensor& pixels, std::int64_t line, std::int64_t first,
                          std::int64_t count) {
  const auto rows = pixels.size(2), channels = pixels.size(3);
  return pixels.as_strided({count * rows, channels}, {channels, 1},
                           (line * pixels.size(1) + first) * rows * channels);
}

at::Tensor pixels_of(const at::Tensor& pixels, Overlap y, Overlap x, std::int64_t Overlap::*begin) {
  return pixels.narrow(0, y.*begin, y.count)
      .narrow(1, x.*begin, x.count)
      .reshape({-1, pixels.size(3)});
}

/// beta sum + left right.
void multiply(at::Tensor sum, const at::Tensor& left, const at::Tensor& right, int beta) {
  at::cpu::addmm_out(sum, sum, left, right, beta);
}

at::Tensor matrix_of(const at::Tensor& channels_last, const Tap& tap) {
  return channels_last.select(3, tap.column).select(2, tap.row);
}

at::Tensor convolve(const at::Tensor& input, const at::Tensor& weight,
                    const std::optional<at::Tensor>& bias) {
  const auto pixels = pixels_first(input);
  const auto kernel = weight.contiguous(at::MemoryFormat::ChannelsLast);
  auto output =
      at::empty({input.size(2), input.size(3), input.size(0), weight.size(0)}, pixels.options());
  if (bias) output.copy_(*bias);
  const auto taps = taps_of(input.size(2), input.size(3), weight.size(2));
  for (const auto& tap : taps) {
    const auto matrix = matrix_of(kernel, tap).t();
    for (std::int64_t i = 0; i < tap.y.count; ++i)
      multiply(pixels_of_line(output, tap.y.out + i, tap.x.out, tap.x.count),
               pixels_of_line(pixels, tap.y.in + i, tap.x.in, tap.x.count), matrix,
               bias || &tap != &taps.front());
  }
  return rows_first(output, input.suggest_memory_format());
}

at::Tensor gradient_of_input(const at::Tensor& gradient, const at::Tensor& input,
                             const at::Tensor& weight) {
  const auto pixels = pixels_first(gradient);
  const auto kernel = weight.contiguous(at::MemoryFormat::ChannelsLast);
  auto sums =
      at::empty({input.size(2), input.size(3), input.size(0), input.size(1)}, pixels.options());
  const auto taps = taps_of(input.size(2), input.size(3), weight.size(2));
  for (const auto& tap : taps) {
    const auto matrix = matrix_of(kernel, tap);
    for (std::int64_t i = 0; i < tap.y.count; ++i)
      multiply(pixels_of_line(sums, tap.y.in + i, tap.x.in, tap.x.count),
               pixels_of_line(pixels, tap.y.out + i, tap.x.out, tap.x.count), matrix,
               &tap != &taps.front());
  }
  return rows_first(sums, input.suggest_memory_format());
}

at::Tensor gradient_of_weight(const at::Tensor& gradient, const at::Tensor& input,
                              const at::Tensor& weight) {
  const auto of_outputs = pixels_first(gradient), pixels = pixels_first(input);
  auto sums =
      at::empty(weight.sizes(), weight.options().memory_format(at::MemoryFormat::ChannelsLast));
  const auto taps = taps_of(input.size(2), input.size(3), weight.size(2));
  if (taps.size() < static_cast<std::size_t>(weight.size(2) * weight.size(3))) sums.zero_();
  for (const auto& tap : taps)
    multiply(matrix_of(sums, tap), pixels_of(of_outputs, tap.y, tap.x, &Overlap::out).t(),
             pixels_of(pixels, tap.y, tap.x, &Overlap::in), 0);
  return sums.contiguous(weight.suggest_memory_format());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> gradients_of_all(const at::Tensor& gradient,
                                                                const at::Tensor& input,
                                                                const at::Tensor& weight,
                                                                std::array<bool, 3> wanted) {
  return {wanted[0] ? gradient_of_input(gradient, input, weight) : at::Tensor(),
          wanted[1] ? gradient_of_weight(gradient, input, weight) : at::Tensor(),
          wanted[2] ? gradient.sum({0, 2, 3}) : at::Tensor()};
}

class SmallConvolutionFunction final : public AutogradFunction {
 public:
  at::Tensor forward(FunctionContext& context, const std::vector<at::Tensor>& inputs) override {
    context.save({inputs[0], inputs[1]});
    const at::AutoDispatchBelowAutograd below;
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("ddptrain::small_convolution", "")
                               .typed<decltype(convolve)>();
    const auto& bias = inputs[2];
    return op.call(inputs[0], inputs[1], bias.defined() ? std::optional(bias) : std::nullopt);
  }

  std::vector<at::Tensor> backward(const FunctionContext& context,
                                   const at::Tensor& gradient) override {
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("ddptrain::small_convolution_backward", "")
                               .typed<decltype(gradients_of_all)>();
    const auto saved = context.saved();
    auto [input, weight, bias] =
        op.call(gradient, saved[0], saved[1],
                {context.wants_gradient(0), context.wants_gradient(1), context.wants_gradient(2)});
    return {std::move(input), std::move(weight), std::move(bias)};
  }
};

TORCH_LIBRARY_FRAGMENT(ddptrain, m) {
  m.def("small_convolution(Tensor input, Tensor weight, Tensor? bias) -> Tensor");
  m.def(
      "small_convolution_backward(Tensor gradient, Tensor input, Tensor weight, bool[3] wanted) -> "
      "(Tensor, Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(ddptrain, CPU, m) {
  m.impl("small_convolution", &convolve);
  m.impl("small_convolution_backward", &gradients_of_all);
}

}  // namespace

double share_of_padding(std::int64_t height, std::int64_t width, std::int64_t kernel) {
  const auto share_inside = [kernel](std::int64_t size) {
    std::int64_t inside = 0;
    for (std::int64_t tap = 0; tap < kernel; ++tap)
      inside += overlap_of(tap - kernel / 2, size).count;
    return static_cast<double>(inside) / static_cast<double>(kernel * size);
  };
  return 1 - share_inside(height) * share_inside(width);
}

at::Tensor small_convolution(const at::Tensor& input, const at::Tensor& weight,
                             const at::Tensor& bias) {
  return apply_function(c10::make_intrusive<SmallConvolutionFunction>(), {input, weight, bias});
}

}  // namespace ddptrain
