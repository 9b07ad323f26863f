// ddptrain::batch_norm and its backward pass on CUDA. Where channels are neighbors in memory, as in
// channels_last, all is ours; else LibTorch's kernels take the statistics.
#include <ATen/ops/batch_norm_update_stats.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/cuda/kernels/in_parts.h"
#include "accelerator/cuda/kernels/launch.h"

namespace ddptrain {
namespace {

using Maybe = std::optional<at::Tensor>;
using ThreeTensors = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
using FourTensors = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

/// Of the type in which the kernel computes.
at::Tensor plane(const Maybe& values, at::ScalarType type) {
  return values && values->defined() ? values->to(type).contiguous() : at::Tensor();
}

const void* address(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr() : nullptr;
}

const float* floats(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr;
}

/// Of the input's type and order of memory.
at::Tensor like(const at::Tensor& input, const Maybe& tensor) {
  if (!tensor || !tensor->defined()) return {};
  TORCH_CHECK(tensor->sizes() == input.sizes(), "a tensor of another shape than a norm's input");
  return add_relu_takes(*tensor, input) && reads_fours(*tensor)
             ? *tensor
             : at::empty_like(input).copy_(*tensor);
}

// The general kernel, of any type and order of memory.

struct Planes {
  at::Tensor mean, variance, weight, bias, inverse;
};

void launch_relu(const at::Tensor& input, const at::Tensor& residual, const at::Tensor& output,
                 const Planes& of, double eps) {
  auto arguments = norm_arguments(input, eps);
  NormPlanes planes{address(of.mean), address(of.variance), address(of.weight), address(of.bias),
                    of.inverse.defined() ? of.inverse.mutable_data_ptr() : nullptr};
  const void* from = input.const_data_ptr();
  const void* added = address(residual);
  void* to = output.mutable_data_ptr();
  void* all[] = {&from, &added, &to, &planes, &arguments};
  const auto type = kernel_type(input.scalar_type());
  launch_kernel({batch_norm_relu_text(), type, "batch_norm_relu_" + type}, (input.numel() + 3) / 4,
                all);
}

ThreeTensors norm_relu(const at::Tensor& input, const Maybe& weight, const Maybe& bias,
                       at::Tensor& running_mean, at::Tensor& running_var, const Maybe& residual,
                       bool training, double momentum, double eps) {
  const auto type = input.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto output = at::empty_like(input);
  Planes of{plane(running_mean, type),
            plane(running_var, type),
            plane(weight, type),
            plane(bias, type),
            {}};
  const auto none = at::empty({0}, input.options().dtype(type));
  if (!training) {
    launch_relu(input, like(input, residual), output, of, eps);
    return {output, none, none};
  }
  std::tie(of.mean, of.variance) =
      at::batch_norm_update_stats(input, running_mean, running_var, momentum);
  of.inverse = at::empty_like(of.variance);
  launch_relu(input, like(input, residual), output, of, eps);
  return {output, of.mean, of.inverse};
}

// The kernels over rows of channels (norm_rows.cu).

/// An input with its arguments, and blocks for it.
class Rows {
 public:
  Rows(const at::Tensor& input, bool relu, double eps)
      : input_(input),
        arguments_(rows_arguments(input, relu, eps)),
        type_(kernel_type(input.scalar_type())) {}

  /// As many as a device runs at once (norm_rows.cu takes at most 64 registers a thread), so that
  /// none is left for a second turn; each thread with several rows.
  BlockCounts blocks() const {
    constexpr std::int64_t kOfAProcessor = 4, kRowsOfAThread = 4;
    const auto lanes = std::int64_t{arguments_.channels / kRowsLane};
    const auto y = (lanes + arguments_.lanes - 1) / arguments_.lanes;
    const auto rows = std::int64_t{kRowsThreads / arguments_.lanes} * kRowsOfAThread;
    const auto wanted = std::max<std::int64_t>(1, processors() * kOfAProcessor / y);
    return {std::min<std::int64_t>(wanted, (arguments_.rows + rows - 1) / rows), y};
  }
  /// Where a channel is joined over blocks.
  BlockCounts joining() const { return {(arguments_.channels + kRowsJoined - 1) / kRowsJoined}; }

  KernelName of_type(const std::string& name) const {
    return {norm_rows_text(), type_, name + "_" + type_};
  }
  KernelName of_all(const std::string& name) const { return {norm_rows_text(), type_, name}; }
  RowsArguments& arguments() { return arguments_; }
  at::Tensor empty(at::IntArrayRef sizes) const {
    return at::empty(sizes, input_.options().dtype(at::kFloat));
  }
  at::Tensor per_channel() const { return empty({arguments_.channels}); }

 private:
  const at::Tensor& input_;
  RowsArguments arguments_;
  std::string type_;
};

bool is_float(const Maybe& tensor) {
  return !tensor || !tensor->defined() || tensor->scalar_type() == at::kFloat;
}

void take_statistics(Rows& rows, const at::Tensor& input, RowsStatistics to) {
  const auto blocks = rows.blocks();
  const auto partial = rows.empty({blocks.x, 2, input.size(1)}), counts = rows.empty({blocks.x});
  const void* x = input.const_data_ptr();
  float* parts = partial.mutable_data_ptr<float>();
  float* numbers = counts.mutable_data_ptr<float>();
  void* sums[] = {&x, &parts, &numbers, &rows.arguments()};
  launch_kernel(rows.of_type("norm_rows_sums"), blocks, sums);
  int count = static_cast<int>(blocks.x);
  void* statistics[] = {&parts, &numbers, &count, &to, &rows.arguments()};
  launch_kernel(rows.of_all("norm_rows_statistics"), rows.joining(), statistics);
}

ThreeTensors norm_rows(const at::Tensor& input, const Maybe& given_weight, const Maybe& given_bias,
                       at::Tensor& running_mean, at::Tensor& running_var, const Maybe& residual,
                       bool relu, bool training, double momentum, double eps) {
  Rows rows(input, relu, eps);
  const auto weight = plane(given_weight, at::kFloat), bias = plane(given_bias, at::kFloat);
  const auto output = at::empty_like(input), added = like(input, residual);
  auto mean = rows.empty({0}), inverse = mean;
  RowsPlanes planes{nullptr, nullptr, nullptr, floats(weight), floats(bias)};
  if (training) {
    mean = rows.per_channel();
    inverse = rows.per_channel();
    take_statistics(
        rows, input,
        {mean.mutable_data_ptr<float>(), inverse.mutable_data_ptr<float>(),
         running_mean.mutable_data_ptr<float>(), running_var.mutable_data_ptr<float>(), momentum});
    planes.mean = floats(mean);
    planes.inverse = floats(inverse);
  } else {
    planes.mean = floats(running_mean);
    planes.variance = floats(running_var);
  }
  const void* x = input.const_data_ptr();
  const void* from = address(added);
  void* to = output.mutable_data_ptr();
  void* all[] = {&x, &from, &to, &planes, &rows.arguments()};
  launch_kernel(rows.of_type("norm_rows_forward"), rows.blocks(), all);
  return {output, mean, inverse};
}

struct Backward {
  at::Tensor gradient, input, output, mean, inverse;
  Maybe weight, bias;
  bool relu, adds, wants_input;
  double eps;
};

FourTensors backward_of_rows(const Backward& of) {
  Rows rows(of.input, of.relu, of.eps);
  const auto blocks = rows.blocks();
  const auto channels = of.input.size(1);
  const auto weight = plane(of.weight, at::kFloat), bias = plane(of.bias, at::kFloat);
  const bool adds = of.relu && of.adds;
  const auto behind = adds ? at::empty_like(of.input) : of.gradient;
  const auto output = adds ? like(of.input, of.output) : at::Tensor();
  const auto partial = rows.empty({blocks.x, 2, channels}), along = rows.empty({2, channels});
  const auto dweight = rows.per_channel(), dbias = rows.per_channel();
  RowsPlanes planes{floats(of.mean), floats(of.inverse), nullptr, floats(weight), floats(bias)};
  const void* dy = of.gradient.const_data_ptr();
  const void* x = of.input.const_data_ptr();
  const void* y = address(output);
  void* masked = adds ? behind.mutable_data_ptr() : nullptr;
  float* parts = partial.mutable_data_ptr<float>();
  void* sums[] = {&dy, &x, &y, &masked, &parts, &planes, &rows.arguments()};
  launch_kernel(rows.of_type("norm_rows_backward_sums"), blocks, sums);
  int count = static_cast<int>(blocks.x);
  const float* inverse = planes.inverse;
  RowsTotals to{dweight.mutable_data_ptr<float>(), dbias.mutable_data_ptr<float>(),
                along.mutable_data_ptr<float>()};
  void* totals[] = {&parts, &count, &inverse, &to, &rows.arguments()};
  launch_kernel(rows.of_all("norm_rows_totals"), rows.joining(), totals);
  const auto residual = of.adds ? behind : at::empty({0}, of.input.options());
  if (!of.wants_input) return {at::empty({0}, of.input.options()), dweight, dbias, residual};
  const auto dx = at::empty_like(of.input);
  dy = behind.const_data_ptr();
  if (adds) rows.arguments().relu = 0;
  void* result = dx.mutable_data_ptr();
  const float* lines = floats(along);
  void* all[] = {&dy, &x, &result, &lines, &planes, &rows.arguments()};
  launch_kernel(rows.of_type("norm_rows_backward"), blocks, all);
  return {dx, dweight, dbias, residual};
}

ThreeTensors batch_norm_cuda(const at::Tensor& given, const Maybe& weight, const Maybe& bias,
                             at::Tensor& running_mean, at::Tensor& running_var,
                             const Maybe& residual, bool relu, bool training, double momentum,
                             double eps) {
  const c10::DeviceGuard guard(given.device());
  TORCH_CHECK(given.numel() > 0, "a batch norm needs values");
  const auto input = given.contiguous(given.suggest_memory_format());
  if (norm_rows_take(input) && is_float(running_mean) && is_float(running_var) &&
      (relu || !residual))
    return norm_rows(input, weight, bias, running_mean, running_var, residual, relu, training,
                     momentum, eps);
  if (relu)
    return norm_relu(input, weight, bias, running_mean, running_var, residual, training, momentum,
                     eps);
  static const auto parts = in_parts("ddptrain::batch_norm_in_parts", &batch_norm_cuda);
  return parts.call(input, weight, bias, running_mean, running_var, residual, relu, training,
                    momentum, eps);
}

FourTensors batch_norm_backward_cuda(const at::Tensor& gradient, const at::Tensor& input,
                                     const at::Tensor& output, const Maybe& weight,
                                     const Maybe& bias, const Maybe& running_mean,
                                     const Maybe& running_var, const at::Tensor& mean,
                                     const at::Tensor& inverse, bool relu, bool adds, bool training,
                                     bool wants_input, double eps) {
  const c10::DeviceGuard guard(input.device());
  if (training && norm_rows_take(input) && is_float(mean) && is_float(inverse) &&
      gradient.scalar_type() == input.scalar_type())
    return backward_of_rows({like(input, gradient), input, output, mean, inverse, weight, bias,
                             relu, adds, wants_input, eps});
  static const auto parts =
      in_parts("ddptrain::batch_norm_backward_in_parts", &batch_norm_backward_cuda);
  return parts.call(gradient, input, output, weight, bias, running_mean, running_var, mean, inverse,
                    relu, adds, training, wants_input, eps);
}

TORCH_LIBRARY_IMPL(ddptrain, CUDA, m) {
  m.impl("batch_norm", &batch_norm_cuda);
  m.impl("batch_norm_backward", &batch_norm_backward_cuda);
}

}  // namespace
}  // namespace ddptrain
