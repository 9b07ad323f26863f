// ddptrain::residual_norm and its backward pass on CUDA.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/DeviceGuard.h>
#include <fmt/format.h>
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
using FourTensors = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

/// The launches for rows that the kernels take.
class ResidualRows {
 public:
  /// `type`: of the kernels.
  ResidualRows(const at::Tensor& stream, at::ScalarType type, const RowThreads& threads, double eps)
      : arguments{stream.numel() / stream.size(-1), static_cast<int>(stream.size(-1)), eps},
        type_(kernel_type(type)),
        macros_{fmt::format("LANES={}", threads.lanes), fmt::format("FOURS={}", threads.fours)},
        rows_of_block_(kResidualThreads / threads.lanes) {}

  void launch(const char* kernel, const BlockCounts& blocks, void** all) const {
    launch_kernel(
        {residual_norm_text(), type_, fmt::format("residual_norm_{}_{}", kernel, type_), macros_},
        blocks, all);
  }
  /// With at most `of_a_processor` blocks on each.
  BlockCounts blocks(std::int64_t of_a_processor) const {
    return {std::min<std::int64_t>((arguments.rows + rows_of_block_ - 1) / rows_of_block_,
                                   processors() * of_a_processor)};
  }

  ResidualArguments arguments;

 private:
  std::string type_;
  std::vector<std::string> macros_;
  std::int64_t rows_of_block_;
};

/// Of the stream's type and order of memory, where fours can be read.
bool is_stream(const at::Tensor& tensor, const at::Tensor& stream) {
  return tensor.scalar_type() == stream.scalar_type() && tensor.sizes() == stream.sizes() &&
         tensor.is_contiguous() && reads_fours(tensor);
}

/// A kernel of `type` has float for its stream, that of double has double.
std::optional<RowThreads> threads_for(const at::Tensor& stream, const at::Tensor& weight,
                                      const at::Tensor& bias, at::ScalarType type) {
  const auto wide = type == at::kDouble ? at::kDouble : at::kFloat;
  const auto plane = [&](const at::Tensor& tensor) {
    return tensor.scalar_type() == wide && tensor.is_contiguous() && reads_fours(tensor);
  };
  if (stream.scalar_type() != wide || stream.numel() == 0 || stream.dim() == 0 || !plane(weight) ||
      !plane(bias) || !at::isFloatingType(type))
    return std::nullopt;
  return row_threads(stream.size(-1));
}

at::Tensor of_rows(const at::Tensor& stream) {
  auto sizes = stream.sizes().vec();
  sizes.back() = 1;
  return at::empty(sizes, stream.options());
}

void* written(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.mutable_data_ptr() : nullptr;
}

void* read(const at::Tensor& tensor) {
  return tensor.defined() ? const_cast<void*>(tensor.const_data_ptr()) : nullptr;
}

FourTensors norm_on_cuda(const at::Tensor& given, const Maybe& given_branch,
                         const at::Tensor& weight, const at::Tensor& bias, double eps,
                         at::ScalarType type) {
  const c10::DeviceGuard guard(given.device());
  const auto input = given.contiguous();
  const auto branch = given_branch ? given_branch->contiguous() : at::Tensor();
  const auto threads = threads_for(input, weight, bias, type);
  if (!threads || !reads_fours(input) ||
      (branch.defined() &&
       (branch.scalar_type() != type || branch.sizes() != input.sizes() || !reads_fours(branch)))) {
    static const auto parts = in_parts("ddptrain::residual_norm_in_parts", &norm_on_cuda);
    return parts.call(given, given_branch, weight, bias, eps, type);
  }
  ResidualRows rows(input, type, *threads, eps);
  const auto sum = branch.defined() ? at::empty_like(input) : at::Tensor();
  const auto normalized = at::empty(input.sizes(), input.options().dtype(type));
  const auto means = of_rows(input), inverses = of_rows(input);
  void* from[] = {read(input), read(branch), read(weight), read(bias)};
  void* to[] = {written(sum), written(normalized), written(means), written(inverses)};
  void* all[] = {&from[0], &from[1], &from[2], &from[3],       &to[0],
                 &to[1],   &to[2],   &to[3],   &rows.arguments};
  constexpr std::int64_t kOfAProcessor = 8;
  rows.launch("forward", rows.blocks(kOfAProcessor), all);
  return {sum.defined() ? sum : at::empty({0}, input.options()), normalized, means, inverses};
}

FourTensors norm_backward_on_cuda(const Maybe& given_of_sum, const at::Tensor& given_of_normalized,
                                  const at::Tensor& sum, const at::Tensor& means,
                                  const at::Tensor& inverses, const at::Tensor& weight,
                                  const at::Tensor& bias, at::ScalarType branch) {
  const c10::DeviceGuard guard(sum.device());
  const auto of_normalized = given_of_normalized.contiguous();
  const auto of_sum = given_of_sum ? given_of_sum->contiguous() : at::Tensor();
  const auto type = of_normalized.scalar_type(), wide = sum.scalar_type();
  const auto threads = threads_for(sum, weight, bias, type);
  const bool rounds = branch != wide;
  if (!threads || !is_stream(sum, sum) || !reads_fours(of_normalized) ||
      (rounds && branch != type) || (of_sum.defined() && !is_stream(of_sum, sum))) {
    static const auto parts =
        in_parts("ddptrain::residual_norm_backward_in_parts", &norm_backward_on_cuda);
    return parts.call(given_of_sum, given_of_normalized, sum, means, inverses, weight, bias,
                      branch);
  }
  ResidualRows rows(sum, type, *threads, 0);
  constexpr std::int64_t kOfAProcessor = 2;
  const auto blocks = rows.blocks(kOfAProcessor);
  const auto of_input = at::empty_like(sum);
  const auto of_branch =
      at::empty(rounds ? sum.sizes() : at::IntArrayRef{0}, sum.options().dtype(branch));
  const auto partial = at::empty({blocks.x, 2, sum.size(-1)}, sum.options());
  const auto of_weight = at::empty_like(weight), of_bias = at::empty_like(bias);
  void* from[] = {read(of_normalized), read(of_sum),   read(sum),
                  read(means),         read(inverses), read(weight)};
  void* to[] = {written(of_input), rounds ? written(of_branch) : nullptr, written(partial)};
  void* all[] = {&from[0], &from[1], &from[2], &from[3], &from[4],
                 &from[5], &to[0],   &to[1],   &to[2],   &rows.arguments};
  rows.launch("backward", blocks, all);
  const void* parts = to[2];
  int count = static_cast<int>(blocks.x);
  void* totals[] = {written(of_weight), written(of_bias)};
  void* joined[] = {&parts, &count, &totals[0], &totals[1], &rows.arguments};
  rows.launch("totals", {(sum.size(-1) + kResidualJoined - 1) / kResidualJoined}, joined);
  return {of_input, of_branch, of_weight, of_bias};
}

TORCH_LIBRARY_IMPL(ddptrain, CUDA, m) {
  m.impl("residual_norm", &norm_on_cuda);
  m.impl("residual_norm_backward", &norm_backward_on_cuda);
}

}  // namespace
}  // namespace ddptrain
