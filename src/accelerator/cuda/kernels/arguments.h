// Arguments of kernels, computed from tensors: no device is needed.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "accelerator/cuda/kernels/batch_norm_relu.cuh"
#include "accelerator/cuda/kernels/column_sums.cuh"
#include "accelerator/cuda/kernels/dropout.cuh"
#include "accelerator/cuda/kernels/max_pool.cuh"
#include "accelerator/cuda/kernels/norm_rows.cuh"
#include "accelerator/cuda/kernels/normalize_images.cuh"
#include "accelerator/cuda/kernels/optimizer_tensors.cuh"
#include "accelerator/cuda/kernels/residual_norm.cuh"
#include "accelerator/cuda/kernels/sync_norm.cuh"
#include "accelerator/cuda/kernels/vocabulary_rows.cuh"

namespace ddptrain {

/// The masks of ddptrain::dropout (models/operators/dropout_mask.h).
struct DropoutMasks {
  double p = 0;
  std::uint64_t key = 0;
  std::int64_t step = 0, first_row = 0, elements = 0;
};

/// Whether dropout_arguments knows the order of this tensor's memory: contiguous, channels last, or
/// rows and time exchanged.
bool dropout_takes(const at::Tensor& input, std::int64_t elements);

/// For an input that it takes, and an output of the same strides.
DropoutArguments dropout_arguments(const at::Tensor& input, const DropoutMasks& masks);

/// `pixels` [images, channels, height, width], contiguous or channels_last; `boxes` of each image.
NormalizeArguments normalize_arguments(const at::Tensor& pixels, std::int64_t boxes);

/// `input` [rows, channels, ...] with values, contiguous or channels last.
NormArguments norm_arguments(const at::Tensor& input, double eps);

/// Whether the kernels of norm_rows.cu take an input: float, bfloat16 or half, with values,
/// channels neighbors in memory, a multiple of kRowsLane of them.
bool norm_rows_take(const at::Tensor& input);

/// For an input that they take.
RowsArguments rows_arguments(const at::Tensor& input, bool relu, double eps);

/// How a row of features lies on threads of residual_norm.cu, which is compiled for it: `lanes`
/// threads take a row, each `fours` fours of features.
struct RowThreads {
  int lanes, fours;
};

/// None where the kernels of residual_norm.cu do not take so many features: 4 to 8,192, a multiple
/// of 4.
std::optional<RowThreads> row_threads(std::int64_t features);

/// Whether the kernels of max_pool.cu take an input: floating point, channels last, a multiple of 4
/// of them, and windows of at most 255 places.
bool max_pool_takes(const at::Tensor& input, std::int64_t kernel);

/// For an input that they take, and the output of its size.
MaxPoolArguments max_pool_arguments(const at::Tensor& input, const at::Tensor& output,
                                    std::int64_t kernel, std::int64_t stride, std::int64_t padding);

/// Whether the kernels of column_sums.cu and vocabulary_rows.cu take rows: [rows, columns] with
/// values as they lie in memory, each row where fours can be read.
bool are_rows_of_fours(const at::Tensor& rows);

/// Whether the kernel add_relu takes them: one floating-point type, one shape, one order of memory.
bool add_relu_takes(const at::Tensor& residual, const at::Tensor& input);

/// As many tensors of the lists, from `first` on, as one launch takes. Those of an index are of one
/// type and size, and lie alike in memory.
OptimizerTensors optimizer_tensors(const std::vector<at::TensorList>& lists, std::size_t first);

/// Whether four neighbors of a tensor can be read at once.
bool reads_fours(const at::Tensor& tensor);

/// "float", "double", "bfloat16" or "half", as the kernels' names end.
std::string kernel_type(at::ScalarType type);

}  // namespace ddptrain
