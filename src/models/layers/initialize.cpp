#include "models/layers/initialize.h"

#include <ATen/core/grad_mode.h>

#include <cmath>

namespace ddptrain::initialize {
namespace {

std::int64_t receptive_field(const at::Tensor& weight) {
  return weight.numel() / (weight.size(0) * weight.size(1));
}

std::int64_t fan_out(const at::Tensor& weight) { return weight.size(0) * receptive_field(weight); }

}  // namespace

void uniform(const at::Tensor& tensor, double bound, const at::Generator& generator) {
  const at::NoGradGuard no_grad;
  tensor.uniform_(-bound, bound, generator);
}

std::int64_t fan_in(const at::Tensor& weight) { return weight.size(1) * receptive_field(weight); }

void kaiming_uniform(const at::Tensor& weight, double slope, const at::Generator& generator) {
  const double gain = std::sqrt(2.0 / (1 + slope * slope));
  const double deviation = gain / std::sqrt(static_cast<double>(fan_in(weight)));
  uniform(weight, std::sqrt(3.0) * deviation, generator);
}

void kaiming_normal(const at::Tensor& weight, Fan fan, const at::Generator& generator) {
  const auto n = fan == Fan::in ? fan_in(weight) : fan_out(weight);
  normal(weight, std::sqrt(2.0) / std::sqrt(static_cast<double>(n)), generator);
}

void xavier_uniform(const at::Tensor& weight, const at::Generator& generator) {
  const auto fans = static_cast<double>(fan_in(weight) + fan_out(weight));
  uniform(weight, std::sqrt(3.0) * std::sqrt(2.0 / fans), generator);
}

void normal(const at::Tensor& tensor, double deviation, const at::Generator& generator) {
  const at::NoGradGuard no_grad;
  tensor.normal_(0, deviation, generator);
}

// The inverse of the cumulative distribution at uniform numbers.
void truncated_normal(const at::Tensor& tensor, double deviation, const at::Generator& generator) {
  constexpr double bound = 2;
  const double inside = std::erf(bound / deviation / std::sqrt(2.0));
  uniform(tensor, inside, generator);
  const at::NoGradGuard no_grad;
  tensor.erfinv_().mul_(deviation * std::sqrt(2.0)).clamp_(-bound, bound);
}

void fold(const at::Tensor& tensor, double bound, double deviation) {
  const at::NoGradGuard no_grad;
  tensor.fmod_(bound).mul_(deviation);
}

void constant(const at::Tensor& tensor, double value) {
  const at::NoGradGuard no_grad;
  tensor.fill_(value);
}

void layer_default(const at::Tensor& weight, const at::Tensor& bias,
                   const at::Generator& generator) {
  kaiming_uniform(weight, std::sqrt(5.0), generator);
  if (bias.defined()) uniform(bias, 1 / std::sqrt(static_cast<double>(fan_in(weight))), generator);
}

}  // namespace ddptrain::initialize
