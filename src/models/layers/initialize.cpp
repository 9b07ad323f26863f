#include "models/layers/initialize.h"

#include <ATen/ops/empty.h>

#include <cmath>

#include "models/layers/deferred_init.h"

namespace ddptrain::initialize {
namespace {

std::int64_t receptive_field(const at::Tensor& weight) {
  return weight.numel() / (weight.size(0) * weight.size(1));
}

std::int64_t fan_out(const at::Tensor& weight) { return weight.size(0) * receptive_field(weight); }

}  // namespace

void uniform(const at::Tensor& tensor, double bound, const at::Generator& generator) {
  DeferredInit::fill(tensor,
                     [=](const at::Tensor& all) { all.uniform_(-bound, bound, generator); });
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
  DeferredInit::fill(tensor, [=](const at::Tensor& all) { all.normal_(0, deviation, generator); });
}

// The inverse of the cumulative distribution at uniform numbers.
void truncated_normal(const at::Tensor& tensor, double deviation, const at::Generator& generator) {
  constexpr double bound = 2;
  const double inside = std::erf(bound / deviation / std::sqrt(2.0));
  DeferredInit::fill(tensor, [=](const at::Tensor& all) {
    all.uniform_(-inside, inside, generator);
    all.erfinv_().mul_(deviation * std::sqrt(2.0)).clamp_(-bound, bound);
  });
}

void unit_vector(const at::Tensor& tensor, const at::Generator& generator) {
  DeferredInit::fill(tensor, [=](const at::Tensor& all) {
    all.normal_(0, 1, generator);
    all.div_(all.norm().clamp_min(1e-12));
  });
}

// The others are copies.
void alike_in_groups(const at::Tensor& weight, std::int64_t group, const at::Generator& generator) {
  auto sizes = weight.sizes().vec();
  sizes[0] /= group;
  const double deviation = std::sqrt(2.0) / std::sqrt(static_cast<double>(fan_in(weight)));
  DeferredInit::fill(weight, [=](const at::Tensor& all) {
    const auto first = at::empty(sizes, all.options());
    first.normal_(0, deviation, generator);
    all.copy_(first.repeat_interleave(group, 0));
  });
}

void fold(const at::Tensor& tensor, double bound, double deviation) {
  DeferredInit::change(tensor, [=](const at::Tensor& all) { all.fmod_(bound).mul_(deviation); });
}

void constant(const at::Tensor& tensor, double value) {
  DeferredInit::fill(tensor, [=](const at::Tensor& all) { all.fill_(value); });
}

void layer_default(const at::Tensor& weight, const at::Tensor& bias,
                   const at::Generator& generator) {
  kaiming_uniform(weight, std::sqrt(5.0), generator);
  if (bias.defined()) uniform(bias, 1 / std::sqrt(static_cast<double>(fan_in(weight))), generator);
}

}  // namespace ddptrain::initialize
