// Operators of layers that the fallback of operators.cpp cannot compute.
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/native_batch_norm.h>
#include <torch/library.h>

#include <optional>

#include "simulated/faults.h"
#include "simulated/graphs.h"
#include "simulated/operators.h"

namespace ddptrain::simulated {
namespace {

template <class T>
using Maybe = std::optional<T>;

// Convolutions of devices that LibTorch does not know have operators of their own.

Tensor on_host(const Tensor& tensor) { return tensor.defined() ? tensor.cpu() : tensor; }

Maybe<Tensor> frozen_or_none(const Maybe<Tensor>& tensor) {
  return tensor && tensor->defined() ? Maybe<Tensor>(frozen(*tensor)) : Maybe<Tensor>();
}

Maybe<Tensor> on_host(const Maybe<Tensor>& tensor) {
  return tensor ? Maybe<Tensor>(tensor->cpu()) : tensor;
}

/// How a convolution moves over its input.
struct Moves {
  std::vector<c10::SymInt> stride, padding, dilation, output_padding;
  bool transposed;
  c10::SymInt groups;
};

Tensor convolution(const Tensor& input, const Tensor& weight, const Maybe<Tensor>& bias,
                   c10::SymIntArrayRef stride, c10::SymIntArrayRef padding,
                   c10::SymIntArrayRef dilation, bool transposed,
                   c10::SymIntArrayRef output_padding, c10::SymInt groups) {
  fail_if_asked("convolution_forward");
  const Moves moves{stride.vec(),         padding.vec(), dilation.vec(),
                    output_padding.vec(), transposed,    std::move(groups)};
  const auto convolve = [x = frozen(input), w = frozen(weight), b = frozen_or_none(bias), moves] {
    return Tensors{at::convolution_symint(on_host(x), on_host(w), on_host(b), moves.stride,
                                          moves.padding, moves.dilation, moves.transposed,
                                          moves.output_padding, moves.groups)
                       .to(x.device())};
  };
  return computed(input, convolve).front();
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(
    const Tensor& gradient, const Tensor& input, const Tensor& weight, c10::SymIntArrayRef stride,
    c10::SymIntArrayRef padding, c10::SymIntArrayRef dilation, bool transposed,
    c10::SymIntArrayRef output_padding, c10::SymInt groups, std::array<bool, 3> mask) {
  fail_if_asked("convolution_backward");
  const Moves moves{stride.vec(),         padding.vec(), dilation.vec(),
                    output_padding.vec(), transposed,    std::move(groups)};
  const auto derive = [dy = frozen(gradient), x = frozen(input), w = frozen(weight), moves, mask] {
    const std::vector<c10::SymInt> bias{dy.sym_size(1)};
    const auto [dx, dw, db] = at::convolution_backward_symint(
        on_host(dy), on_host(x), on_host(w), bias, moves.stride, moves.padding, moves.dilation,
        moves.transposed, moves.output_padding, moves.groups, mask);
    const auto back = [&](const Tensor& tensor) {
      return tensor.defined() ? tensor.to(x.device()) : tensor;
    };
    return Tensors{back(dx), back(dw), back(db)};
  };
  auto results = computed(input, derive);
  return {results[0], results[1], results[2]};
}

// Its schema does not say that it moves the running statistics, so the fallback would lose them.
std::tuple<Tensor, Tensor, Tensor> batch_norm(const Tensor& input, const Maybe<Tensor>& weight,
                                              const Maybe<Tensor>& bias, const Maybe<Tensor>& mean,
                                              const Maybe<Tensor>& variance, bool training,
                                              double momentum, double eps) {
  fail_if_asked("native_batch_norm");
  const auto moving = [training](const Maybe<Tensor>& tensor) {
    return training && tensor && tensor->defined();
  };
  const auto normalize = [=, x = frozen(input), w = frozen_or_none(weight),
                          b = frozen_or_none(bias), m = frozen_or_none(mean),
                          v = frozen_or_none(variance)] {
    const auto host_mean = on_host(m), host_variance = on_host(v);
    const auto [output, saved_mean, saved_invstd] = at::native_batch_norm(
        x.cpu(), on_host(w), on_host(b), host_mean, host_variance, training, momentum, eps);
    if (moving(m)) m->copy_(*host_mean);
    if (moving(v)) v->copy_(*host_variance);
    const auto device = x.device();
    return Tensors{output.to(device), saved_mean.to(device), saved_invstd.to(device)};
  };
  const int device = input.device().index();
  for (const auto& tensor : {mean, variance})
    if (is_captured(device) && moving(tensor)) will_change(device, *tensor);
  auto results = computed(input, normalize);
  return {results[0], results[1], results[2]};
}

// Kernels that LibTorch has for CUDA alone (Normalization.cuh), for the fallback.

Tensor per_channel(const Tensor& values, const Tensor& input) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(input.dim()), 1);
  shape[1] = -1;
  return values.view(shape);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm_backward_reduce(
    const Tensor& gradient, const Tensor& input, const Tensor& mean, const Tensor& scale,
    const Maybe<Tensor>& weight, bool, bool, bool) {
  std::vector<std::int64_t> rows{0};
  for (std::int64_t d = 2; d < input.dim(); ++d) rows.push_back(d);
  const auto dy = gradient.to(mean.scalar_type());
  const auto distance = input.to(mean.scalar_type()) - per_channel(mean, input);
  const auto plain = dy.sum(rows), products = (dy * distance).sum(rows);
  const auto type = weight ? weight->scalar_type() : input.scalar_type();
  return {plain, products, (products * scale).to(type), plain.to(type, false, /*copy=*/true)};
}

Tensor batch_norm_backward_elemt(const Tensor& gradient, const Tensor& input, const Tensor& mean,
                                 const Tensor& scale, const Maybe<Tensor>& weight,
                                 const Tensor& plain, const Tensor& products, const Tensor& count) {
  TORCH_CHECK(mean.scalar_type() == plain.scalar_type(), "mean and sum_dy are of one type");
  TORCH_CHECK(count.scalar_type() == at::kInt, "counts are 32-bit integers");
  const auto type = mean.scalar_type();
  const auto share = count.sum().to(type).reciprocal();
  const auto along = scale.square() * products * share;
  const auto slope = weight ? scale * weight->to(type) : scale;
  const auto distance = input.to(type) - per_channel(mean, input);
  const auto dx = (gradient.to(type) - per_channel(plain * share, input) -
                   distance * per_channel(along, input)) *
                  per_channel(slope, input);
  return dx.to(input.scalar_type()).contiguous(input.suggest_memory_format());
}

TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("batch_norm_backward_reduce", &batch_norm_backward_reduce);
  m.impl("batch_norm_backward_elemt", &batch_norm_backward_elemt);
}

TORCH_LIBRARY_IMPL(aten, HPU, m) {
  m.impl("convolution_overrideable", &convolution);
  m.impl("convolution_backward_overrideable", &convolution_backward);
  m.impl("native_batch_norm", &batch_norm);
}

}  // namespace
}  // namespace ddptrain::simulated
