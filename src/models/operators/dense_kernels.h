// What linear layers, batch norms and ReLUs compute over rows of the host's memory, besides matrix
// products. Each number is computed by one thread, in the order of the rows: the same bits on any
// number of threads.
#pragma once

#include <cstdint>

namespace ddptrain::dense {

/// Rows of `width` numbers in the host's memory, each `stride` numbers behind the one before.
template <class T>
struct Rows {
  T* data = nullptr;
  std::int64_t rows = 0, width = 0, stride = 0;
};

/// Adds bias [width] to each row; nothing where it is null.
template <class T>
void add_bias(const Rows<T>& rows, const T* bias);

/// to[i] = max(from[i], 0), NaN kept; `to` may be `from`.
template <class T>
void relu(T* to, const T* from, std::int64_t count);

/// gradient[i] = 0 where output[i] <= 0.
template <class T>
void relu_backward(T* gradient, const T* output, std::int64_t count);

/// The sum of each column, in double: sums [width].
template <class T>
void column_sums(T* sums, const Rows<const T>& rows);

/// A batch norm by the statistics of these rows. Null `weight` and `bias`: 1 and 0.
template <class T>
struct BatchNormColumns {
  const T *weight = nullptr, *bias = nullptr;
  T *running_mean = nullptr, *running_var = nullptr;  // moved by `momentum`, to the unbiased var
  double momentum = 0, eps = 0;
  double *mean = nullptr, *inverse = nullptr;  // [width]: of the batch; 1 / sqrt(var + eps)
};

/// output = (input - mean) * inverse * weight + bias. At least two rows.
template <class T>
void batch_norm(const Rows<T>& output, const Rows<const T>& input, const BatchNormColumns<T>& norm);

/// The gradient of the output becomes that of the input, in its place; those of weight and bias
/// [width] where they are not null.
template <class T>
void batch_norm_backward(const Rows<T>& gradient, const Rows<const T>& input, const T* weight,
                         const double* mean, const double* inverse, T* weight_gradient,
                         T* bias_gradient);

}  // namespace ddptrain::dense
