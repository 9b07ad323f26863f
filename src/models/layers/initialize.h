// First weights as torch.nn.init draws them: in place, in the same order from the same generator.
// Whatever a constructor writes to a weight goes through these, so that it can be deferred
// (models/layers/deferred_init.h).
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ddptrain::initialize {

enum class Fan { in, out };

/// Numbers that flow into one output of a weight [out, in, ...].
std::int64_t fan_in(const at::Tensor& weight);

/// kaiming_uniform_ and kaiming_normal_ for leaky ReLU of the given slope (0: ReLU).
void kaiming_uniform(const at::Tensor& weight, double slope, const at::Generator& generator);
void kaiming_normal(const at::Tensor& weight, Fan fan, const at::Generator& generator);
void xavier_uniform(const at::Tensor& weight, const at::Generator& generator);
/// uniform_(-bound, bound).
void uniform(const at::Tensor& tensor, double bound, const at::Generator& generator);
void normal(const at::Tensor& tensor, double deviation, const at::Generator& generator);
/// trunc_normal_ with its bounds -2 and 2.
void truncated_normal(const at::Tensor& tensor, double deviation, const at::Generator& generator);
/// fastai.layers.trunc_normal_ of what was drawn: the remainder of a division by `bound`, times
/// `deviation`.
void fold(const at::Tensor& tensor, double bound, double deviation);
/// A normal vector divided by its length (torch.nn.utils.spectral_norm).
void unit_vector(const at::Tensor& tensor, const at::Generator& generator);
/// kaiming_normal of the first of each `group` outputs, whose copies the others are
/// (fastai.layers.icnr_init of a 1x1 convolution).
void alike_in_groups(const at::Tensor& weight, std::int64_t group, const at::Generator& generator);
void constant(const at::Tensor& tensor, double value);

/// What Conv2d and Linear do on construction: the weight, then the bias where there is one.
void layer_default(const at::Tensor& weight, const at::Tensor& bias,
                   const at::Generator& generator);

}  // namespace ddptrain::initialize
